// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace steptape::detail::values {

/// Converts a color of 0..1 to a byte: times 255 in binary32, clamped and truncated, as in torch.
inline std::uint8_t colorByte(float color) {
  const float scaled = color * 255.0F;
  // Written so that NaN fails the first comparison.
  return scaled > 0 ? static_cast<std::uint8_t>(std::min(scaled, 255.0F)) : std::uint8_t{0};
}

/// Returns whether a color is neither NaN nor far outside 0..1. One comparison, so that a loop
/// around it costs little more than the conversion.
inline bool isUsualColor(float color) {
  constexpr float kMiddle = 0.5F;
  constexpr float kMaxDistance = 1;
  return std::abs(color - kMiddle) <= kMaxDistance;
}

/// Converts a channel of an sRGB color to linear light; both are 0 to 1.
inline double linearLight(double part) {
  return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
}

/// Returns the relative luminance of an sRGB color, 0 to 1.
///
/// @source WCAG 2.1, "relative luminance"
inline double relativeLuminance(double red, double green, double blue) {
  return 0.2126 * linearLight(red) + 0.7152 * linearLight(green) + 0.0722 * linearLight(blue);
}

}  // namespace steptape::detail::values
