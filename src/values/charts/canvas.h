// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "steptape/values/figure.h"

#include "values/charts/color.h"
#include "values/charts/geometry.h"
#include "values/charts/stroke.h"
#include "values/charts/ticks.h"
#include "values/kinds/image/image.h"

namespace steptape::figure {

/// How a text is drawn. The height of capitals centers a text vertically on its point, so that
/// neighboring texts share a baseline whatever their letters.
struct TextStyle {
  double size = 10;  ///< In points.
  Color color = kInk;
  TextAnchor anchor = TextAnchor::kLeft;
  double angle = 0;  ///< In radians, counter-clockwise.
  bool bold = false;
};

/// A drawing surface; only this class uses Cairo. Positions are in pixels. Lengths of strokes,
/// markers and texts are in points.
///
/// @threads Not thread-safe: one thread at a time.
class Canvas {
 public:
  /// Creates a white canvas.
  /// @throws std::bad_alloc if there is not enough memory.
  Canvas(int width, int height, double dpi);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  double pixelsPerPoint() const { return pixelsPerPoint_; }

  void fill(const Rect& rect, const Color& color);
  /// Fills a rectangle after moving its edges to whole pixels.
  void fillCrisply(const Rect& rect, const Color& color);
  void fill(const std::vector<Point>& polygon, const Color& color);
  /// Connects the points; a point that is not finite leaves a gap.
  void stroke(const std::vector<Point>& line, const Stroke& stroke);
  /// Draws a horizontal or vertical line, moved so that its edges are at whole pixels.
  void strokeCrisply(Point from, Point to, const Stroke& stroke);
  void draw(const Marker& marker, Point at);

  /// Returns the width in pixels.
  double textWidth(const Label& label, const TextStyle& style);
  void text(const Label& label, Point at, const TextStyle& style);
  /// Returns the height of a line of text in pixels.
  double lineHeight(double size) const { return 1.25 * size * pixelsPerPoint_; }
  /// Returns `text`, truncated and with an ellipsis if it is wider than `width` pixels.
  std::string shortened(const std::string& text, double width, const TextStyle& style);

  /// Draws `pixels` row by row, at the size of the canvas's pixels. `rect` has integral
  /// coordinates. Transparent pixels keep the background.
  void paint(const Rect& rect, const std::vector<Color>& pixels);

  /// Clips drawing to `rect` until the result is destroyed.
  class Clip;
  Clip clip(const Rect& rect);

  /// Returns how much ink `rect` contains, from 0 to 1 for all black. Pixels as light as the grid
  /// do not count.
  double ink(const Rect& rect);

  /// Returns the drawing.
  /// @throws std::bad_alloc if Cairo ran out of memory.
  detail::values::Pixels pixels();

 private:
  struct Impl;

  void setFont(const TextStyle& style);
  void trace(const std::vector<Point>& line);

  double pixelsPerPoint_;
  std::unique_ptr<Impl> impl_;
};

/// See Canvas::clip().
class Canvas::Clip {
 public:
  explicit Clip(Canvas* canvas) : canvas_(canvas) {}
  ~Clip();
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;

 private:
  Canvas* canvas_;
};

}  // namespace steptape::figure
