// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "steptape/base/array_view.h"
#include "steptape/ranks/collective.h"

namespace steptape::detail::ranks {

/// Returns whether elements are summed in float32 instead of their own type: float16 and bfloat16.
inline bool isReducedInFloat32(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

/// Combines `count` elements of each of `parts`, in order, into `result`, which may be one of the
/// parts. float16 and bfloat16 are combined in float32 and rounded once. A nonzero byte of bool
/// counts as 1.
STEPTAPE_EXPORT void reduceElements(ArrayView<const void* const> parts, std::size_t count,
                                    DType dtype, ReduceOp op, void* result);

/// Divides float32 or float64 elements by `divisor`, to make an average of a sum.
STEPTAPE_EXPORT void divideElements(void* data, std::size_t count, DType dtype, int divisor);

}  // namespace steptape::detail::ranks
