// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/distributed/collective.h"

#include <c10/core/ScalarType.h>

namespace steptape::detail {

/// The type that tensors are averaged in; none if it has no mean.
inline std::optional<DType> averagedType(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return DType::kFloat32;
    case at::kDouble:
      return DType::kFloat64;
    case at::kHalf:
      return DType::kFloat16;
    case at::kBFloat16:
      return DType::kBFloat16;
    default:
      return std::nullopt;
  }
}

/// For messages about other types.
inline constexpr const char* kAveragedTypes = "Float, Double, Half or BFloat16";

}  // namespace steptape::detail
