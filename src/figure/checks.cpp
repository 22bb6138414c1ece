// SPDX-License-Identifier: Apache-2.0
#include "figure/checks.h"

#include "steptape/base/error.h"

namespace steptape::figure {

void reject(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, where + ": " + what);
}

void checkRank1(const TensorView& view, const std::string& name, const std::string& where) {
  if (view.rank() != 1) {
    reject(where, name + " has shape " + view.shapeString() + ", wanted one dimension");
  }
}

void checkEqualLengths(const TensorView& a, const std::string& aName, const TensorView& b,
                       const std::string& bName, const std::string& where) {
  checkRank1(a, aName, where);
  checkRank1(b, bName, where);
  if (a.numel() != b.numel()) {
    reject(where, aName + " has " + std::to_string(a.numel()) + " elements and " + bName + " has " +
                      std::to_string(b.numel()) + ", wanted equally many");
  }
}

void checkCount(std::size_t count, std::int64_t wanted, const std::string& name,
                const std::string& what, const std::string& where) {
  if (count != 0 && static_cast<std::int64_t>(count) != wanted) {
    reject(where, name + " has " + std::to_string(count) + " entries, wanted " +
                      std::to_string(wanted) + ", one for each " + what);
  }
}

}  // namespace steptape::figure
