// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "steptape/values/tensor_view.h"

#include "values/kinds/tensor/strided.h"
#include "values/kinds/tensor/visit_elements.h"

namespace steptape::detail::values {

/// Reads a tensor's elements as `Wide`, block by block, in row-major order. Several tensors of
/// different types and strides can thus be iterated in parallel without copies.
///
/// @threads Not thread-safe: one thread at a time.
template <typename Wide>
class RowMajorReader {
 public:
  /// `view` must outlive the reader.
  explicit RowMajorReader(const TensorView& view)
      : view_(view), dimensions_(orderedDimensions(view)), row_(dimensions_.size() - 1, 0) {}

  /// Writes the next `count` elements to `to`. REQUIRES: `count` elements are left.
  void read(Wide* to, std::int64_t count) {
    visitElements(view_, [&](const auto* data) { readFrom(data, to, count); });
  }

 private:
  template <typename T>
  void readFrom(const T* data, Wide* to, std::int64_t count) {
    const Dimension inner = dimensions_.back();
    while (count > 0) {
      const std::int64_t n = std::min(count, inner.size - column_);
      const T* const from = data + rowOffset_ + column_ * inner.stride;
      for (std::int64_t i = 0; i < n; ++i) {
        to[i] = base::widen<Wide>(from[i * inner.stride]);
      }
      to += n;
      count -= n;
      column_ += n;
      if (column_ == inner.size) {
        column_ = 0;
        nextRow();
      }
    }
  }

  void nextRow() {
    for (std::size_t d = row_.size(); d > 0; --d) {
      rowOffset_ += dimensions_[d - 1].stride;
      if (++row_[d - 1] < dimensions_[d - 1].size) {
        return;
      }
      rowOffset_ -= dimensions_[d - 1].size * dimensions_[d - 1].stride;
      row_[d - 1] = 0;
    }
  }

  const TensorView& view_;
  const std::vector<Dimension> dimensions_;
  std::vector<std::int64_t> row_;  // the row's index in all outer dimensions
  std::int64_t rowOffset_ = 0;     // offset of the row's first element
  std::int64_t column_ = 0;
};

}  // namespace steptape::detail::values
