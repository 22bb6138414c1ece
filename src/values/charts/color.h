// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptape::figure {

/// An sRGB color; each channel is 0 to 1.
struct Color {
  double red = 0;
  double green = 0;
  double blue = 0;
  double alpha = 1;
};

inline constexpr Color kWhite{1, 1, 1, 1};
/// Color of text: softer than black, with a contrast of 15 : 1 on white.
inline constexpr Color kInk{0.15, 0.15, 0.15, 1};
/// Color of axes and ticks.
inline constexpr Color kAxisColor{0.4, 0.4, 0.4, 1};
/// Color of the grid lines.
inline constexpr Color kGridColor{0.91, 0.91, 0.91, 1};

/// Returns the color of the `index`-th plot; repeats after eight.
Color cycleColor(int index);

/// Returns a light color that depends only on the name. Dark text is legible on it.
Color colorOfName(std::string_view name);

/// Parses a color.
///
/// @param text See `color` in <steptape/values/figure.h>.
/// @throws Error(kInvalidArgument) with `where` and `text` if it is not a color.
Color parseColor(std::string_view text, const std::string& where);

/// @throws Error(kInvalidArgument) with `where` unless `opacity` is 0 to 1.
Color withOpacity(Color color, double opacity, const std::string& where);

/// Returns the relative luminance, 0 to 1.
///
/// @source WCAG 2.1, "relative luminance".
double relativeLuminance(const Color& color);

/// Returns black or white, whichever is more legible on `background`.
Color textColorOn(const Color& background);

}  // namespace steptape::figure
