// SPDX-License-Identifier: Apache-2.0
#include "summary/strided.h"

#include <cstdlib>

namespace steptape::detail {

std::vector<Dimension> mergedDimensions(const TensorView& view) {
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < view.rank(); ++i) {
    if (view.shape()[i] != 1) {
      dimensions.push_back({view.shape()[i], view.strides()[i]});
    }
  }
  std::stable_sort(dimensions.begin(), dimensions.end(), [](Dimension a, Dimension b) {
    return std::abs(a.stride) > std::abs(b.stride);
  });

  std::vector<Dimension> merged;
  for (const Dimension dimension : dimensions) {
    if (!merged.empty() && merged.back().stride == dimension.size * dimension.stride) {
      merged.back() = {merged.back().size * dimension.size, dimension.stride};
    } else {
      merged.push_back(dimension);
    }
  }
  if (merged.empty()) {
    merged.push_back({1, 1});
  }
  return merged;
}

}  // namespace steptape::detail
