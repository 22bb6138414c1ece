// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/tag.h"

#include "base/got_expected.h"
#include "base/shortest_double.h"

namespace steptape::detail::values {

void checkTag(std::string_view tag) {
  if (tag.empty()) {
    base::reject("an empty string", "a name such as \"loss/train\"", "tag");
  }
}

std::string percentileSuffix(double percentile) {
  std::string suffix = "/p";
  base::appendShortestDouble(&suffix, percentile);
  return suffix;
}

}  // namespace steptape::detail::values
