// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/braille_canvas.h"

#include <cstdlib>

namespace steptape::tools {
namespace {

/// In Unicode, dots 1-2-3-7 are the left column, 4-5-6-8 the right one; dot n is bit n - 1.
constexpr std::uint8_t kBits[BrailleCanvas::kDotsDown][BrailleCanvas::kDotsAcross] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

}  // namespace

BrailleCanvas::BrailleCanvas(int columns, int rows)
    : columns_(columns),
      rows_(rows),
      cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

void BrailleCanvas::dot(int x, int y) {
  if (x < 0 || x >= dotsAcross() || y < 0 || y >= dotsDown()) {
    return;
  }
  cells_[index(x / kDotsAcross, y / kDotsDown)] |= kBits[y % kDotsDown][x % kDotsAcross];
}

void BrailleCanvas::line(int fromX, int fromY, int toX, int toY) {
  const int width = std::abs(toX - fromX);
  const int height = std::abs(toY - fromY);
  const int stepX = fromX < toX ? 1 : -1;
  const int stepY = fromY < toY ? 1 : -1;
  int error = width - height;
  for (int x = fromX, y = fromY;;) {
    dot(x, y);
    if (x == toX && y == toY) {
      return;
    }
    const int twice = 2 * error;
    if (twice > -height) {
      error -= height;
      x += stepX;
    }
    if (twice < width) {
      error += width;
      y += stepY;
    }
  }
}

std::string BrailleCanvas::pattern(std::uint8_t dots) {
  // U+2800 + dots, which takes three bytes.
  return {static_cast<char>(0xe2), static_cast<char>(0xa0 | dots >> 6),
          static_cast<char>(0x80 | (dots & 0x3f))};
}

}  // namespace steptape::tools
