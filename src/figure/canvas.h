// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "steptape/figure/plot_options.h"

#include "figure/color.h"
#include "figure/geometry.h"
#include "figure/stroke.h"
#include "figure/ticks.h"
#include "summary/image/image.h"

namespace steptape::figure {

/// How a text is set. It is centered vertically on its point by the height of its capitals, so that
/// neighbors share a baseline whatever letters they have.
struct TextStyle {
  double size = 10;  ///< In points.
  Color color = kInk;
  TextAnchor anchor = TextAnchor::kLeft;
  double angle = 0;  ///< In radians, counter-clockwise.
  bool bold = false;
};

/// A picture to draw on: the one place that knows Cairo. Places are in pixels, the lengths of
/// strokes, markers and texts in points.
///
/// @threads Not thread-safe: one thread at a time.
class Canvas {
 public:
  /// A white one. @throws std::bad_alloc if it cannot be had.
  Canvas(int width, int height, double dpi);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  double pixelsPerPoint() const { return pixelsPerPoint_; }

  void fill(const Rect& rect, const Color& color);
  /// Edges are moved to whole pixels.
  void fillCrisply(const Rect& rect, const Color& color);
  void fill(const std::vector<Point>& polygon, const Color& color);
  /// Joins the points; one that is not finite leaves a gap.
  void stroke(const std::vector<Point>& line, const Stroke& stroke);
  /// A horizontal or vertical line, moved so that its edges are those of whole pixels.
  void strokeCrisply(Point from, Point to, const Stroke& stroke);
  void draw(const Marker& marker, Point at);

  /// Width in pixels.
  double textWidth(const Label& label, const TextStyle& style);
  void text(const Label& label, Point at, const TextStyle& style);
  /// Height in pixels that a line of text takes.
  double lineHeight(double size) const { return 1.25 * size * pixelsPerPoint_; }
  /// `text` without its end, and an ellipsis instead, where it is wider than `width` pixels.
  std::string shortened(const std::string& text, double width, const TextStyle& style);

  /// Draws `pixels`, row by row, each as large as one of the canvas; the parts of `rect` are whole
  /// numbers. Transparent ones leave what is below.
  void paint(const Rect& rect, const std::vector<Color>& pixels);

  /// Until the result is destroyed, only what is drawn within `rect` shows.
  class Clip;
  Clip clip(const Rect& rect);

  /// How much is drawn within `rect`, from 0 to 1, which is all black; what is as light as the grid
  /// does not count.
  double ink(const Rect& rect);

  /// What was drawn. @throws std::bad_alloc if Cairo ran out of memory meanwhile.
  Pixels pixels();

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
