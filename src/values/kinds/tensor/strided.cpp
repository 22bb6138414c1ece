// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/tensor/strided.h"

#include <cstdlib>
#include <cstring>

namespace steptape::detail::values {
namespace {

std::vector<Dimension> dimensionsOf(const TensorView& view) {
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < view.rank(); ++i) {
    if (view.shape()[i] != 1) {
      dimensions.push_back({view.shape()[i], view.strides()[i]});
    }
  }
  return dimensions;
}

/// Merges neighboring dimensions that are contiguous.
std::vector<Dimension> merge(const std::vector<Dimension>& dimensions) {
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

}  // namespace

std::vector<Dimension> mergedDimensions(const TensorView& view) {
  std::vector<Dimension> dimensions = dimensionsOf(view);
  std::stable_sort(dimensions.begin(), dimensions.end(), [](Dimension a, Dimension b) {
    return std::abs(a.stride) > std::abs(b.stride);
  });
  return merge(dimensions);
}

std::vector<Dimension> orderedDimensions(const TensorView& view) {
  return merge(dimensionsOf(view));
}

void copyRowMajor(const TensorView& view, void* to) {
  if (view.numel() == 0) {
    return;
  }
  auto* out = static_cast<std::byte*>(to);
  visitElements(view, [&](const auto* data) {
    forEachRun(data, orderedDimensions(view),
               [&](const auto* first, std::int64_t count, std::int64_t stride) {
                 if (stride == 1) {
                   const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(*first);
                   std::memcpy(out, first, bytes);
                   out += bytes;
                   return;
                 }
                 for (std::int64_t i = 0; i < count; ++i, out += sizeof(*first)) {
                   std::memcpy(out, first + i * stride, sizeof(*first));
                 }
               });
  });
}

}  // namespace steptape::detail::values
