// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace steptape::figure {

constexpr double kPi = 3.14159265358979323846;

/// A position on the canvas, in pixels from its upper left corner.
struct Point {
  double x = 0;
  double y = 0;
};

inline bool isFinite(const Point& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

/// A rectangle on the canvas, in pixels.
struct Rect {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
  double centerX() const { return left + width / 2; }
  double centerY() const { return top + height / 2; }
};

}  // namespace steptape::figure
