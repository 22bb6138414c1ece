// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/values/tensor_view.h"

#include "base/element.h"

namespace steptape::detail::values {

/// Calls `visit` with the view's data as a pointer to its element type.
template <typename Visitor>
void visitElements(const TensorView& view, Visitor&& visit) {
  const void* const data = view.data();
  switch (view.dtype()) {
    case DType::kBool:
      return visit(static_cast<const base::Bool8*>(data));
    case DType::kUInt8:
      return visit(static_cast<const std::uint8_t*>(data));
    case DType::kInt8:
      return visit(static_cast<const std::int8_t*>(data));
    case DType::kUInt16:
      return visit(static_cast<const std::uint16_t*>(data));
    case DType::kInt16:
      return visit(static_cast<const std::int16_t*>(data));
    case DType::kUInt32:
      return visit(static_cast<const std::uint32_t*>(data));
    case DType::kInt32:
      return visit(static_cast<const std::int32_t*>(data));
    case DType::kUInt64:
      return visit(static_cast<const std::uint64_t*>(data));
    case DType::kInt64:
      return visit(static_cast<const std::int64_t*>(data));
    case DType::kFloat16:
      return visit(static_cast<const base::Float16*>(data));
    case DType::kBFloat16:
      return visit(static_cast<const base::BFloat16*>(data));
    case DType::kFloat32:
      return visit(static_cast<const float*>(data));
    case DType::kFloat64:
      return visit(static_cast<const double*>(data));
  }
}

}  // namespace steptape::detail::values
