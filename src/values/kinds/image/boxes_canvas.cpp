// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/boxes_canvas.h"

#include <algorithm>
#include <utility>

#include "values/kinds/image/bitmap_font.h"
#include "values/kinds/image/color_math.h"

namespace steptape::detail::values {
Color inkOn(Color color) {
  // The luminance at which black and white have equal contrast: (1 + 0.05) / (y + 0.05) = (y +
  // 0.05) / 0.05.
  constexpr double kMiddle = 0.1791;
  const double luminance = relativeLuminance(color[0] / 255.0, color[1] / 255.0, color[2] / 255.0);
  return luminance >= kMiddle ? Color{0, 0, 0} : Color{255, 255, 255};
}

void Canvas::fill(int x0, int y0, int x1, int y1, Color color) {
  const auto [left, right] = std::minmax(x0, x1);
  const auto [top, bottom] = std::minmax(y0, y1);
  const int lastX = std::min(right, pixels_->width - 1);
  const int lastY = std::min(bottom, pixels_->height - 1);
  for (int y = std::max(top, 0); y <= lastY; ++y) {
    for (int x = std::max(left, 0); x <= lastX; ++x) {
      set(x, y, color);
    }
  }
}

void Canvas::write(std::string_view text, int x, int y, Color color) {
  std::size_t position = 0;
  for (; position < text.size() && x < pixels_->width; x += bitmap_font::kAdvance) {
    const int glyph = bitmap_font::nextGlyph(text, &position);
    for (int row = 0; row < bitmap_font::kHeight; ++row) {
      for (int column = 0; column < bitmap_font::kAdvance; ++column) {
        if (bitmap_font::hasInk(glyph, column, row)) {
          fill(x + column, y + row, x + column, y + row, color);
        }
      }
    }
  }
}

void Canvas::set(int x, int y, Color color) {
  const auto channels = static_cast<std::size_t>(pixels_->channels);
  const std::size_t row = static_cast<std::size_t>(y) * pixels_->width;
  std::uint8_t* const pixel = pixels_->data.data() + (row + x) * channels;
  std::copy(color.begin(), color.end(), pixel);
  if (channels == 4) {
    pixel[3] = 255;
  }
}

}  // namespace steptape::detail::values
