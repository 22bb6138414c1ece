// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/element.h"

namespace steptape::detail::ranks {

/// Returns the nearest bfloat16, ties to even. NaN stays NaN.
inline base::BFloat16 roundToBFloat16(float value) {
  const auto bits = base::bitCast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    // Sets the quiet bit: truncating a NaN could give an infinity.
    return {static_cast<std::uint16_t>(bits >> 16 | 0x40U)};
  }
  const std::uint32_t isOdd = bits >> 16 & 1U;
  return {static_cast<std::uint16_t>((bits + 0x7FFFU + isOdd) >> 16)};
}

/// Returns the nearest binary16, ties to even. Values that are too large become infinity; NaN stays
/// NaN.
///
/// @source IEEE 754-2019, section 4.3.1
inline base::Float16 roundToFloat16(float value) {
  const auto bits = base::bitCast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  constexpr std::uint32_t kFirstThatIsInfinite = 0x477FF000U;  // 65520, half way to 2^16.
  constexpr std::uint32_t kFirstNormal = 0x38800000U;          // 2^-14.
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  if (magnitude >= kFirstThatIsInfinite) {
    return {static_cast<std::uint16_t>(sign | (magnitude > kInfinity ? 0x7E00U : 0x7C00U))};
  }
  if (magnitude < kFirstNormal) {
    // Near 0.5, the last bit of a float is 2^-24, like that of a subnormal binary16. The addition
    // therefore rounds to it, ties to even.
    const float shifted = base::bitCast<float>(magnitude) + 0.5F;
    return {
        static_cast<std::uint16_t>(sign | (base::bitCast<std::uint32_t>(shifted) - 0x3F000000U))};
  }
  constexpr std::uint32_t kBiasDifference = (127U - 15U) << 23;
  const std::uint32_t isOdd = magnitude >> 13 & 1U;
  return {static_cast<std::uint16_t>(sign | (magnitude - kBiasDifference + 0xFFFU + isOdd) >> 13)};
}

}  // namespace steptape::detail::ranks
