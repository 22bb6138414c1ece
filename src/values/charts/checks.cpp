// SPDX-License-Identifier: Apache-2.0
#include "values/charts/checks.h"

#include "base/got_expected.h"

namespace steptape::figure {

void checkRank1(const TensorView& view, const std::string& name, const std::string& where) {
  if (view.rank() != 1) {
    detail::base::reject(name + " of shape " + view.shapeString(), "one dimension", where);
  }
}

void checkEqualLengths(const TensorView& a, const std::string& aName, const TensorView& b,
                       const std::string& bName, const std::string& where) {
  checkRank1(a, aName, where);
  checkRank1(b, bName, where);
  if (a.numel() != b.numel()) {
    detail::base::reject(std::to_string(a.numel()) + " elements in " + aName + " and " +
                             std::to_string(b.numel()) + " in " + bName,
                         "equally many", where);
  }
}

void checkCount(std::size_t count, std::int64_t expected, const std::string& name,
                const std::string& what, const std::string& where) {
  if (count != 0 && static_cast<std::int64_t>(count) != expected) {
    detail::base::reject(std::to_string(count) + " " + name,
                         std::to_string(expected) + ", one for each " + what, where);
  }
}

}  // namespace steptape::figure
