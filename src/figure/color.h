// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptape::figure {

/// An sRGB color; each part from 0 to 1.
struct Color {
  double red = 0;
  double green = 0;
  double blue = 0;
  double alpha = 1;
};

inline constexpr Color kWhite{1, 1, 1, 1};
/// Of text: softer than black, at a contrast of 15 : 1 on white.
inline constexpr Color kInk{0.15, 0.15, 0.15, 1};
/// Of axes and ticks.
inline constexpr Color kAxisColor{0.4, 0.4, 0.4, 1};
/// The color of the grid lines.
inline constexpr Color kGridColor{0.91, 0.91, 0.91, 1};

/// The color of the `index`-th plot; begins anew after eight.
Color cycleColor(int index);

/// A light color that depends on nothing but the name; dark text is legible on it.
Color colorOfName(std::string_view name);

/// @param text As plot_options.h says of `color`.
/// @throws Error(kInvalidArgument) with `where` and `text` if it names no color.
Color parseColor(std::string_view text, const std::string& where);

/// @throws Error(kInvalidArgument) with `where` unless `opacity` is 0 to 1.
Color withOpacity(Color color, double opacity, const std::string& where);

/// How light a color appears, 0 to 1.
///
/// @source WCAG 2.1, "relative luminance".
double relativeLuminance(const Color& color);

/// Black or white, whichever is more legible on `background`.
Color textColorOn(const Color& background);

}  // namespace steptape::figure
