// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "steptape/figure.h"

#include "values/kinds/png_decoder.h"

namespace steptape {

using Rgb = std::array<std::uint8_t, 3>;

inline constexpr Rgb kRed{255, 0, 0};
inline constexpr Rgb kLime{0, 255, 0};
inline constexpr Rgb kWhitePixel{255, 255, 255};

/// The smallest rectangle that holds all pixels of a color; right and bottom are excluded.
struct Box {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;

  int width() const { return right - left; }
  int height() const { return bottom - top; }
  int centerX() const { return (left + right) / 2; }
  int centerY() const { return (top + bottom) / 2; }
};

/// A rendered figure, decoded by libpng.
class Picture {
 public:
  explicit Picture(const PngImage& png) : pixels_(decodePng(png.bytes)) {
    EXPECT_EQ(pixels_.width, png.width);
    EXPECT_EQ(pixels_.height, png.height);
    EXPECT_EQ(pixels_.channels, 3);
  }
  explicit Picture(const Figure& figure) : Picture(figure.render()) {}

  int width() const { return pixels_.width; }
  int height() const { return pixels_.height; }
  const std::vector<std::uint8_t>& data() const { return pixels_.data; }

  Rgb at(int x, int y) const {
    const std::size_t i = 3 * (static_cast<std::size_t>(y) * pixels_.width + x);
    return {pixels_.data[i], pixels_.data[i + 1], pixels_.data[i + 2]};
  }

  /// Returns how many pixels have exactly this color.
  int count(const Rgb& color) const {
    int count = 0;
    for (int y = 0; y < height(); ++y) {
      for (int x = 0; x < width(); ++x) {
        count += at(x, y) == color ? 1 : 0;
      }
    }
    return count;
  }

  /// Returns how many pixels of lines and areas have exactly this color, which may be a gray. The
  /// edges of letters have pixels of any gray, which depend on the font and on Cairo's release.
  int countOfLines(const Rgb& color) const {
    int count = 0;
    for (int y = 0; y < height(); ++y) {
      for (int x = 0; x < width(); ++x) {
        count += isOfLine(x, y, color) ? 1 : 0;
      }
    }
    return count;
  }

  /// Returns the box of the color; fails the test if it is not there.
  Box boxOf(const Rgb& color) const {
    return boxOfPixels([&](int x, int y) { return at(x, y) == color; });
  }

  /// Returns the box of the lines and areas of the color, which may be a gray.
  Box boxOfLines(const Rgb& color) const {
    return boxOfPixels([&](int x, int y) { return isOfLine(x, y, color); });
  }

  /// Returns how many pixels differ from an image of the same size.
  int differences(const Picture& other) const {
    int count = 0;
    for (int y = 0; y < height(); ++y) {
      for (int x = 0; x < width(); ++x) {
        count += at(x, y) == other.at(x, y) ? 0 : 1;
      }
    }
    return count;
  }

 private:
  /// A straight run of so many pixels is no part of a letter.
  static constexpr int kLineLength = 12;

  int runLength(int x, int y, int dx, int dy, const Rgb& color) const {
    int length = 0;
    while (x >= 0 && y >= 0 && x < width() && y < height() && at(x, y) == color) {
      ++length;
      x += dx;
      y += dy;
    }
    return length;
  }

  bool isOfLine(int x, int y, const Rgb& color) const {
    const auto isRun = [&](int dx, int dy) {
      return runLength(x, y, dx, dy, color) + runLength(x, y, -dx, -dy, color) > kLineLength;
    };
    return at(x, y) == color && (isRun(1, 0) || isRun(0, 1));
  }

  template <typename IsPart>
  Box boxOfPixels(const IsPart& isPart) const {
    Box box{width(), height(), 0, 0};
    for (int y = 0; y < height(); ++y) {
      for (int x = 0; x < width(); ++x) {
        if (isPart(x, y)) {
          box = {std::min(box.left, x), std::min(box.top, y), std::max(box.right, x + 1),
                 std::max(box.bottom, y + 1)};
        }
      }
    }
    EXPECT_GT(box.right, box.left) << "the color is not in the picture";
    return box;
  }

  detail::values::Pixels pixels_;
};

}  // namespace steptape
