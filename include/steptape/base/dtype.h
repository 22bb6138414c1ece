// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "steptape/base/export.h"

namespace steptape {

/// The element type of a tensor, or of the numbers that ranks exchange.
enum class DType : std::uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kUInt64,
  kInt64,
  kFloat16,   ///< IEEE binary16.
  kBFloat16,  ///< The upper half of an IEEE binary32.
  kFloat32,
  kFloat64,
};

/// Returns the bytes of one element.
STEPTAPE_EXPORT std::size_t dtypeSize(DType dtype) noexcept;
/// Returns the name of the type, such as "float32".
STEPTAPE_EXPORT const char* dtypeName(DType dtype) noexcept;

/// Returns the DType of the arithmetic C++ type `T`.
template <typename T>
constexpr DType dtypeOf() {
  static_assert(std::is_arithmetic_v<T>, "elements are numbers");
  if constexpr (std::is_same_v<T, bool>) {
    return DType::kBool;
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "long double has no TensorBoard form");
    return sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  } else if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 1   ? DType::kInt8
           : sizeof(T) == 2 ? DType::kInt16
           : sizeof(T) == 4 ? DType::kInt32
                            : DType::kInt64;
  } else {
    return sizeof(T) == 1   ? DType::kUInt8
           : sizeof(T) == 2 ? DType::kUInt16
           : sizeof(T) == 4 ? DType::kUInt32
                            : DType::kUInt64;
  }
}

}  // namespace steptape
