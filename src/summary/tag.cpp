// SPDX-License-Identifier: Apache-2.0
#include "summary/tag.h"

#include "steptape/base/error.h"

#include "base/shortest_double.h"

namespace steptape {

void checkTag(std::string_view tag) {
  if (tag.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "the tag is empty: wanted a name of at least one character, such as \"loss/train\"");
  }
}

std::string detail::percentileSuffix(double percentile) {
  std::string suffix = "/p";
  appendShortestDouble(&suffix, percentile);
  return suffix;
}

}  // namespace steptape
