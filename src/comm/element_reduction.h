// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "steptape/base/array_view.h"
#include "steptape/comm/collective.h"

namespace steptape::detail {

/// Whether elements are added up in a wider type than their own: float16 and bfloat16.
inline bool isReducedInFloat32(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

/// Combines `count` elements of each of `parts`, in their order, into `result`, which may be one of
/// them. Halves are combined in float32 and rounded once. Bytes of bool other than 0 count as 1.
STEPTAPE_EXPORT void reduceElements(ArrayView<const void* const> parts, std::size_t count,
                                    DType dtype, ReduceOp op, void* result);

/// Divides float32 or float64 by `divisor`: what makes an average of a sum.
STEPTAPE_EXPORT void divideElements(void* data, std::size_t count, DType dtype, int divisor);

}  // namespace steptape::detail
