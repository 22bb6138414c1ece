// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "steptape/events/event.h"

namespace steptape::detail::events {

/// Returns the bits of the binary16 number that equals the binary32 number with these `bits`. If
/// there is none, rounds towards zero, or to infinity on overflow.
///
/// @source IEEE 754-2019, section 3.4
inline std::uint16_t toHalf(std::uint32_t bits) {
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t fraction = bits & 0x7fffff;
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127;
  std::uint32_t magnitude = 0;
  if (exponent == 128 && fraction != 0) {
    magnitude = 0x7e00;  // NaN
  } else if (exponent > 15) {
    magnitude = 0x7c00;  // infinity
  } else if (exponent >= -14) {
    magnitude = static_cast<std::uint32_t>(exponent + 15) << 10 | fraction >> 13;
  } else if (exponent >= -24) {
    magnitude = (fraction | 0x800000) >> (-1 - exponent);  // subnormal
  }
  return static_cast<std::uint16_t>(sign | magnitude);
}

/// Returns the elements of `half_val` as 16 bits each.
///
/// torch.utils.tensorboard stores the bits of binary32 numbers there, for both 16-bit types. Except
/// for 0.0, which is the same in both encodings, these bits do not fit into 16 bits.
template <typename Values>
std::vector<std::uint32_t> halfBits(const Values& values, event::TensorType type) {
  std::vector<std::uint32_t> all(values.begin(), values.end());
  if (std::any_of(all.begin(), all.end(), [](std::uint32_t bits) { return bits > 0xffff; })) {
    for (std::uint32_t& bits : all) {
      bits = type == event::TensorType::kHalf ? toHalf(bits) : bits >> 16;
    }
  }
  return all;
}

}  // namespace steptape::detail::events
