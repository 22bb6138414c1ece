// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "values/kinds/image/image.h"

namespace steptape::detail::values {

/// Red, green and blue.
using Color = std::array<std::uint8_t, 3>;

/// Returns black or white, whichever has more contrast with `color`.
///
/// @source The contrast ratio of WCAG 2.1, 1.4.3.
Color inkOn(Color color);

/// Draws opaquely into an image with 3 or 4 channels; clips everything outside.
///
/// @threads Not thread-safe: one thread at a time.
class Canvas {
 public:
  /// @param pixels Not owned; must outlive this.
  explicit Canvas(Pixels* pixels) : pixels_(pixels) {}

  /// Fills a rectangle between two corners, both included, given in any order.
  void fill(int x0, int y0, int x1, int y1, Color color);

  /// Writes a line of text in the bitmap font with its upper left corner at (x, y).
  void write(std::string_view text, int x, int y, Color color);

 private:
  void set(int x, int y, Color color);

  Pixels* pixels_;
};

}  // namespace steptape::detail::values
