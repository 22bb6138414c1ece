// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "steptape/values/tensor_view.h"

#include "values/kinds/tensor/visit_elements.h"

namespace steptape::detail::values {

/// One dimension of an iteration over a tensor; the stride is in elements.
struct Dimension {
  std::int64_t size;
  std::int64_t stride;
};

/// Returns the view's dimensions, largest stride first, with contiguous neighbors merged: a
/// contiguous tensor has one dimension, even if its dimensions are permuted. Always returns at
/// least one dimension.
///
/// Iterating over them visits every element once, in no particular order.
std::vector<Dimension> mergedDimensions(const TensorView& view);

/// Like mergedDimensions(), but in the view's own order: iterating over them visits the elements in
/// row-major order.
std::vector<Dimension> orderedDimensions(const TensorView& view);

/// Calls `run(const T* first, std::int64_t count, std::int64_t stride)` for each innermost row of
/// `dimensions`. REQUIRES: none of them is empty.
template <typename T, typename Run>
void forEachRun(const T* data, const std::vector<Dimension>& dimensions, Run&& run) {
  const Dimension inner = dimensions.back();
  const std::size_t outer = dimensions.size() - 1;
  std::vector<std::int64_t> index(outer, 0);
  std::int64_t offset = 0;
  while (true) {
    run(data + offset, inner.size, inner.stride);
    std::size_t d = outer;
    while (d > 0 && ++index[d - 1] == dimensions[d - 1].size) {
      offset -= (dimensions[d - 1].size - 1) * dimensions[d - 1].stride;
      index[d - 1] = 0;
      --d;
    }
    if (d == 0) {
      return;
    }
    offset += dimensions[d - 1].stride;
  }
}

/// Calls `run` as above for each innermost row of mergedDimensions().
template <typename T, typename Run>
void forEachRun(const T* data, const TensorView& view, Run&& run) {
  if (view.numel() > 0) {
    forEachRun(data, mergedDimensions(view), std::forward<Run>(run));
  }
}

/// Collects elements as `Wide` and passes them on in blocks.
template <typename Wide, typename Consume>
class BlockGatherer {
 public:
  /// Small enough for a block to stay in the first-level cache until it is read a second time.
  static constexpr std::size_t kBlock = 2048;

  explicit BlockGatherer(Consume& consume) : consume_(consume) {}

  template <typename T>
  void addRun(const T* first, std::int64_t count, std::int64_t stride) {
    if constexpr (std::is_same_v<T, Wide>) {
      if (stride == 1) {
        passRun(first, static_cast<std::size_t>(count));
        return;
      }
    }
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t n = std::min(count - done, static_cast<std::int64_t>(kBlock - filled_));
      Wide* const to = block_.data() + filled_;
      for (std::int64_t i = 0; i < n; ++i) {
        to[i] = base::widen<Wide>(first[(done + i) * stride]);
      }
      filled_ += static_cast<std::size_t>(n);
      done += n;
      if (filled_ == kBlock) {
        flush();
      }
    }
  }

  void flush() {
    if (filled_ > 0) {
      consume_(static_cast<const Wide*>(block_.data()), filled_);
    }
    filled_ = 0;
  }

 private:
  void passRun(const Wide* first, std::size_t count) {
    for (std::size_t done = 0; done < count; done += kBlock) {
      consume_(first + done, std::min(kBlock, count - done));
    }
  }

  Consume& consume_;
  std::array<Wide, kBlock> block_;
  std::size_t filled_ = 0;
};

/// Calls `consume(const Wide* elements, std::size_t count)` until it has passed every element of
/// the view, of any type and strides, as `Wide`, in no particular order. If the tensor has
/// contiguous rows of `Wide`, the blocks are views of it; otherwise, elements are converted into a
/// small buffer.
template <typename Wide, typename Consume>
void forEachBlock(const TensorView& view, Consume&& consume) {
  BlockGatherer<Wide, Consume> gatherer(consume);
  visitElements(view, [&](const auto* data) {
    forEachRun(data, view, [&](const auto* first, std::int64_t count, std::int64_t stride) {
      gatherer.addRun(first, count, stride);
    });
  });
  gatherer.flush();
}

/// Returns the elements in row-major order, converted to `Wide`, float or double.
template <typename Wide>
std::vector<Wide> rowMajorElements(const TensorView& view) {
  std::vector<Wide> elements;
  if (view.numel() == 0) {
    return elements;
  }
  elements.reserve(static_cast<std::size_t>(view.numel()));
  visitElements(view, [&](const auto* data) {
    forEachRun(data, orderedDimensions(view),
               [&](const auto* first, std::int64_t count, std::int64_t stride) {
                 for (std::int64_t i = 0; i < count; ++i) {
                   elements.push_back(base::widen<Wide>(first[i * stride]));
                 }
               });
  });
  return elements;
}

/// Copies the elements' bytes in row-major order to `to`, which must have room for them.
void copyRowMajor(const TensorView& view, void* to);

}  // namespace steptape::detail::values
