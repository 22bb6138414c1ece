// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace steptape::detail {

/// The byte of a colour given as 0..1: times 255 in binary32, clamped and cut, as torch does it.
inline std::uint8_t colorByte(float color) {
  const float scaled = color * 255.0F;
  // Written so that NaN fails the first comparison.
  return scaled > 0 ? static_cast<std::uint8_t>(std::min(scaled, 255.0F)) : std::uint8_t{0};
}

}  // namespace steptape::detail
