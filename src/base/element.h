// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "steptape/base/dtype.h"

namespace steptape::detail::base {

// Element types without a name in C++17.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
/// A byte, not a bool: reading a bool that is neither 0 nor 1 is undefined.
struct Bool8 {
  std::uint8_t byte;
};

template <typename To, typename From>
To bitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From>);
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

inline float toFloat(BFloat16 value) {
  return bitCast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

inline float toFloat(Float16 value) {
  constexpr std::uint32_t kBiasDifference = 127 - 15;
  constexpr int kMantissaDifference = 23 - 10;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = value.bits & 0x3FFU;
  if (exponent == 0) {
    // Computed from the integer, so that the result is right if the processor flushes denormals to
    // zero.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wideExponent = exponent == 0x1F ? 0xFF : exponent + kBiasDifference;
  return bitCast<float>(sign | wideExponent << 23 | mantissa << kMantissaDifference);
}

/// Converts an element to `Wide`, float or double.
template <typename Wide, typename T>
Wide widen(T element) {
  if constexpr (std::is_same_v<T, Bool8>) {
    return element.byte != 0 ? Wide{1} : Wide{0};
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return toFloat(element);
  } else {
    return static_cast<Wide>(element);
  }
}

inline bool isFloatingPoint(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

/// Returns whether a float represents every value of the type exactly.
inline bool fitsFloat(DType dtype) {
  return dtypeSize(dtype) <= 2 || dtype == DType::kFloat32;
}

}  // namespace steptape::detail::base
