// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace steptape {

// Options of a Figure and of its plots: plain aggregates, so that both forms compile.
//
//   LineOptions o; o.label = "train";                     // C++17
//   figure.line(x, y, {.label = "train", .style = "--"});  // C++20
//
// Common fields:
//   label  The name in the legend; empty: not in the legend.
//   color  "#rrggbb", "#rrggbbaa", "#rgb", a name ("black", "white", "gray", "red", "green",
//          "blue", "orange", "purple", "cyan", "yellow"), or "C0" to "C7". Empty: the next of "C0"
//          to "C7". These are the colors of Okabe and Ito, which are distinguishable with any form
//          of color blindness (https://jfly.uni-koeln.de/color/), ordered by contrast.
// Lengths are in points, 1/72 inch; CanvasOptions::dpi converts them to pixels.
//
// Colormaps: "viridis", "magma" (Smith, van der Walt, Firing: matplotlib's), "blues", "rdbu"
// (ColorBrewer, Cynthia Brewer), "gray"; the suffix "_r" reverses them. "rdbu" is for values around
// zero: set symmetric limits.

/// The scale of an axis.
enum class AxisScale {
  kLinear,
  kLog,  ///< Base 10. Numbers that are not positive are left out.
};

/// The position of a legend: inside the axes, except kBeside.
enum class LegendPlace {
  kBest,  ///< Where it hides the least of the plots.
  kUpperRight,
  kUpperLeft,
  kLowerLeft,
  kLowerRight,
  kBeside,  ///< To the right of the axes.
  kNone,
};

/// The part of a text that is at its point.
enum class TextAnchor { kLeft, kCenter, kRight };

/// Options of a Figure.
struct CanvasOptions {
  std::string title = {};
  int width = 640;   ///< Pixels, 64 to 8192.
  int height = 480;  ///< Pixels, 64 to 8192.
  double dpi = 100;  ///< Pixels per inch, 20 to 1200: a larger value makes text and lines larger.
};

/// Options of Figure::line().
struct LineOptions {
  std::string label = {};
  std::string color = {};
  double width = 1.5;
  std::string style = "-";  ///< "-" solid, "--" dashed, ":" dotted, "-." both, "" markers only.
  std::string marker = {};  ///< At each point: see ScatterOptions::marker; empty: none.
  double markerSize = 5;
};

/// Options of Figure::scatter().
struct ScatterOptions {
  std::string label = {};
  std::string color = {};
  double size = 5;           ///< Diameter of a marker.
  std::string marker = "o";  ///< "o" disc, "s" square, "^" triangle, "D" diamond, "+", "x".
};

/// Options of Figure::bar().
struct BarOptions {
  std::string label = {};
  std::string color = {};
  std::vector<std::string> labels = {};  ///< One below each bar, or none: 0, 1, 2, ...
  double width = 0.8;                    ///< Share of the distance between two bars, 0 to 1.
  /// The bottom of each bar; empty: 0. Bars with bottoms have the x positions of the previous call,
  /// so that they can be stacked.
  std::vector<double> bottom = {};
};

/// A block of Figure::flameGraph(), with its children.
struct FlameBlock {
  std::string name;
  double self = 0;  ///< Its value without its children; the width is the sum of both.
  std::vector<FlameBlock> children = {};
  std::string color = {};  ///< Empty: a color derived from the name.
};

/// Options of Figure::histogram().
struct HistogramPlotOptions {
  std::string label = {};
  std::string color = {};
  int bins = 30;                   ///< Bins of equal width, from the least to the largest value.
  std::vector<double> edges = {};  ///< Increasing; replace `bins` unless empty.
  bool density = false;  ///< Scales to an area of 1, to compare samples of different size.
};

/// Options of Figure::fillBetween().
struct BandOptions {
  std::string label = {};
  std::string color = {};  ///< Empty: the color of the last line.
  double opacity = 0.2;    ///< 0 to 1.
};

/// Options of Figure::horizontalLine() and verticalLine().
struct RuleOptions {
  std::string label = {};
  std::string color = "gray";
  double width = 1.2;
  std::string style = "--";
};

/// Options of Figure::text().
struct AnnotationOptions {
  std::string color = "black";
  double size = 9;
  TextAnchor anchor = TextAnchor::kLeft;
};

/// Options of Figure::heatMap().
struct HeatMapOptions {
  std::string colormap = "viridis";
  std::optional<double> min = std::nullopt;  ///< Value of the first color; unset: the least value.
  std::optional<double> max = std::nullopt;  ///< Value of the last color; unset: the largest value.
  bool colorbar = true;
  std::string colorbarLabel = {};
  bool squareCells = false;  ///< Leaves space beside the map instead of stretching cells.
  std::vector<std::string> xLabels = {};  ///< One per column, or none: 0, 1, 2, ...
  std::vector<std::string> yLabels = {};  ///< One per row, or none: 0, 1, 2, ...
};

/// Options of Figure::confusionMatrix().
struct ConfusionMatrixOptions {
  bool normalize = false;  ///< Divides each row by its sum, so that it sums to 1.
  std::string colormap = "blues";
  bool colorbar = true;
};

}  // namespace steptape
