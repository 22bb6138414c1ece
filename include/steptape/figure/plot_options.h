// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace steptape {

// Options of a Figure and of what is drawn into it: plain aggregates, so that both forms compile.
//
//   LineOptions o; o.label = "train";                     // C++17
//   figure.line(x, y, {.label = "train", .style = "--"});  // C++20
//
// The same everywhere:
//   label  Named in the legend; empty: not in the legend.
//   color  "#rrggbb", "#rrggbbaa", "#rgb", a name ("black", "white", "gray", "red", "green",
//          "blue", "orange", "purple", "cyan", "yellow"), or "C0" to "C7", the colors that plots
//          take in turn when this is empty. They are those of Okabe and Ito, which people with any
//          form of color blindness tell apart (https://jfly.uni-koeln.de/color/), ordered by
//          contrast.
// Lengths are in points, 1/72 inch; CanvasOptions::dpi makes pixels of them.
//
// Colormaps: "viridis", "magma" (Smith, van der Walt, Firing: matplotlib's), "blues", "rdbu"
// (ColorBrewer, Cynthia Brewer), "gray"; with "_r" appended the other way round. "rdbu" is for
// values around zero: give it limits of equal size.

/// How an axis maps numbers to places.
enum class AxisScale {
  kLinear,
  kLog,  ///< Base 10. Numbers that are not positive have no place and are left out.
};

/// Where a legend lies: within the axes, but for kBeside.
enum class LegendPlace {
  kBest,  ///< Where it hides least of what is drawn.
  kUpperRight,
  kUpperLeft,
  kLowerLeft,
  kLowerRight,
  kBeside,  ///< To the right of the axes, where it hides nothing.
  kNone,
};

/// Which part of a text lies at its point.
enum class TextAnchor { kLeft, kCenter, kRight };

/// Options of a Figure.
struct CanvasOptions {
  std::string title = {};
  int width = 640;   ///< Pixels, 64 to 8192.
  int height = 480;  ///< Pixels, 64 to 8192.
  double dpi = 100;  ///< Pixels to an inch, 20 to 1200: a larger one makes text and lines larger.
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
  /// Where each bar begins, or none: at 0. Such bars stand at the places of the call before, so
  /// that they can be stacked.
  std::vector<double> bottom = {};
};

/// A block of Figure::flameGraph(), and those in it.
struct FlameBlock {
  std::string name;
  double self = 0;  ///< What it has beside its children: it is as wide as this and all of them.
  std::vector<FlameBlock> children = {};
  std::string color = {};  ///< Empty: one that depends on the name only.
};

/// Options of Figure::histogram().
struct HistogramPlotOptions {
  std::string label = {};
  std::string color = {};
  int bins = 30;                   ///< Of equal width, between the least and the largest value.
  std::vector<double> edges = {};  ///< Ascending; used instead of `bins` unless empty.
  bool density = false;            ///< Scales to an area of 1, to compare samples of two sizes.
};

/// Options of Figure::fillBetween().
struct BandOptions {
  std::string label = {};
  std::string color = {};  ///< Empty: that of the line drawn last, to which the band belongs.
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
  std::optional<double> min = std::nullopt;  ///< Value of the first color; unset: the least one.
  std::optional<double> max = std::nullopt;  ///< Value of the last color; unset: the largest one.
  bool colorbar = true;
  std::string colorbarLabel = {};
  bool squareCells = false;               ///< Leaves room beside the map rather than stretch cells.
  std::vector<std::string> xLabels = {};  ///< One per column, or none: 0, 1, 2, ...
  std::vector<std::string> yLabels = {};  ///< One per row, or none: 0, 1, 2, ...
};

/// Options of Figure::confusionMatrix().
struct ConfusionMatrixOptions {
  bool normalize = false;  ///< Shows shares of the true class, so that each row sums to 1.
  std::string colormap = "blues";
  bool colorbar = true;
};

}  // namespace steptape
