// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/values/figure_traits.h"
#include "steptape/values/tensor_view.h"

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
  std::int64_t bins = 30;          ///< Bins of equal width, from the least to the largest value.
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

namespace figure {
struct FigureModel;
struct FigureGridModel;
}  // namespace figure

/// A chart for TensorBoard's image page, in the terms of matplotlib.
///
///     steptape::Figure figure({.title = "Loss", .width = 480, .height = 320});
///     figure.line(steps, train, {.label = "train"}).line(steps, test, {.label = "test"});
///     figure.setXLabel("step").setYScale(steptape::AxisScale::kLog);
///     writer.addFigure("loss", figure, step);
///
/// A Figure records drawing commands: each call checks the shapes of its numbers and copies them,
/// in their own type. Binning, layout and drawing happen on the background thread of addFigure(),
/// which also waits for tensors that are being copied from a device.
///
/// NaN and infinities leave gaps and do not affect the limits of the axes; on a logarithmic axis,
/// the same applies to numbers that are not positive. Axes without data are drawn empty. By
/// default, the limits contain all data, with a margin. A legend appears if a plot has a label.
///
/// Copies are cheap: they share the numbers, which never change. Text is UTF-8; invalid UTF-8 is
/// replaced by U+FFFD. The font is the system's sans-serif font; without any installed font, Cairo
/// draws ASCII letters only.
///
/// Every call that adds or sets something returns `*this`.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  Tufte, The Visual Display of Quantitative Information, for the sparse style.
class STEPTAPE_EXPORT Figure {
 public:
  Figure();
  /// @throws Error(kInvalidArgument) if the width, height or resolution is out of range.
  explicit Figure(CanvasOptions options);
  Figure(const Figure& other);
  Figure& operator=(const Figure& other);
  Figure(Figure&& other) noexcept;
  Figure& operator=(Figure&& other) noexcept;
  ~Figure();

  // --- Plots -------------------------------------------------------------------------------------
  // All throw Error(kInvalidArgument) for different lengths, a wrong number of dimensions, and
  // unknown colors, markers, styles and colormaps. All cost one copy of the numbers.

  /// Draws a line through points. For very many points it draws the extremes of each column of
  /// pixels, with the same picture as a result (M4; Jugel et al., VLDB 2014).
  ///
  /// @shape x and y: rank 1, same length. Without x: 0, 1, 2, ...
  Figure& line(const TensorView& x, const TensorView& y, const LineOptions& options = {});
  Figure& line(const TensorView& y, const LineOptions& options = {});

  /// Draws a marker at each point.
  ///
  /// @shape x and y: rank 1, same length.
  Figure& scatter(const TensorView& x, const TensorView& y, const ScatterOptions& options = {});

  /// Draws bars from 0, at x = 0, 1, 2, ... The bars of several calls are side by side, or stacked
  /// with `options.bottom`.
  ///
  /// @shape Rank 1, with the length of `options.labels` and `options.bottom` unless they are empty.
  Figure& bar(const TensorView& heights, const BarOptions& options = {});

  /// Draws a histogram of values. A value on an edge belongs to the bin on its right; on the last
  /// edge, to the last bin. The histograms of several calls overlap and are partly transparent.
  ///
  /// @shape  Any.
  /// @throws Error(kInvalidArgument) if `bins` is not 1 to 10,000, or `edges` do not increase.
  Figure& histogram(const TensorView& values, const HistogramPlotOptions& options = {});

  /// Fills the band between two curves, such as the uncertainty of a mean.
  ///
  /// @shape Rank 1, same length.
  Figure& fillBetween(const TensorView& x, const TensorView& lower, const TensorView& upper,
                      const BandOptions& options = {});

  /// Draws a line across the axes at `y`, or at `x`. It does not affect the limits of the other
  /// axis.
  Figure& horizontalLine(double y, const RuleOptions& options = {});
  Figure& verticalLine(double x, const RuleOptions& options = {});

  /// Draws `text` at a point of the axes, vertically centered.
  Figure& text(double x, double y, std::string text, const AnnotationOptions& options = {});

  /// Draws a matrix as colored cells, with the first row at the top. The center of cell (row,
  /// column) is x = column, y = row. If there are more cells than pixels, a pixel shows their mean.
  ///
  /// @shape  (rows, columns), with one label each unless there are none.
  /// @throws Error(kInvalidArgument) if `options.min` is not less than `options.max`.
  Figure& heatMap(const TensorView& matrix, const HeatMapOptions& options = {});

  /// Draws a confusion matrix, with the number in each cell if there is room.
  ///
  /// @param counts     Rows are true classes, columns are predicted classes.
  /// @param classNames One per class, or none: 0, 1, 2, ...
  /// @shape (classes, classes)
  Figure& confusionMatrix(const TensorView& counts, const std::vector<std::string>& classNames = {},
                          const ConfusionMatrixOptions& options = {});

  /// Draws a tree of blocks from top to bottom: each block is below its parent, with a width
  /// proportional to its value. Names are shortened to the width of their block, or left out.
  /// Blocks narrower than a pixel are left out. A name has the same color in every figure.
  ///
  /// @param blocks The blocks of the first row, from left to right.
  /// @throws Error(kInvalidArgument) naming the block whose `self` is negative or not finite.
  /// @cost   About 30 us for each block with a visible name.
  /// @source Gregg, "The Flame Graph", ACM Queue 14(2), 2016, in its inverted form.
  Figure& flameGraph(const std::vector<FlameBlock>& blocks);

  // --- Axes --------------------------------------------------------------------------------------

  Figure& setTitle(std::string title);
  Figure& setXLabel(std::string label);
  Figure& setYLabel(std::string label);
  /// @throws Error(kInvalidArgument) unless both are finite and min < max.
  Figure& setXLimits(double min, double max);
  Figure& setYLimits(double min, double max);
  Figure& setXScale(AxisScale scale);
  Figure& setYScale(AxisScale scale);
  Figure& setLegend(LegendPlace place);
  /// Shows or hides light lines at the ticks. Default: visible, except in heat maps.
  Figure& setGrid(bool visible);

  // --- Result ------------------------------------------------------------------------------------

  /// Draws the figure on the calling thread. (addFigure() draws in the background.)
  ///
  /// With the same Cairo and font, the same figure gives the same bytes.
  ///
  /// @cost About 11 ms for 640 x 480 pixels, 0.15 us for each point of a line and 4 us for each
  ///       marker of a scatter plot.
  PngImage render() const;

 private:
  friend struct FigureTraits<Figure>;
  friend class FigureGrid;

  std::shared_ptr<const figure::FigureModel> snapshot() const;

  std::unique_ptr<figure::FigureModel> model_;
};

/// Lets SummaryWriter::addFigure() take a Figure.
template <>
struct FigureTraits<Figure> {
  /// @cost A copy of the figure; the numbers are shared.
  STEPTAPE_EXPORT static CapturedFigure capture(const Figure& figure);
};

/// Options of a FigureGrid.
struct FigureGridOptions {
  std::string title = {};
  std::int64_t columns = 2;  ///< Figures in a row.
  int width = 960;   ///< Pixels, 64 to 8192, shared by the figures; their own sizes are ignored.
  int height = 480;  ///< Pixels, 64 to 8192.
  double dpi = 100;  ///< As in CanvasOptions, for all figures.
};

/// Several figures in one image, as the subplots of matplotlib.
///
///     Figure loss, accuracy;
///     ...
///     writer.addFigure("curves", FigureGrid({loss, accuracy}, {.title = "Run 7"}), step);
///
/// The figures are arranged row by row in cells of equal size.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT FigureGrid {
 public:
  /// @throws Error(kInvalidArgument) if there are no figures, `columns` is not positive, the width,
  ///         height or resolution is out of range, or a side of a cell is less than 64 pixels.
  explicit FigureGrid(const std::vector<Figure>& figures, FigureGridOptions options = {});

  /// Draws the figures on the calling thread. (addFigure() draws in the background.)
  PngImage render() const;

 private:
  friend struct FigureTraits<FigureGrid>;

  std::shared_ptr<const figure::FigureGridModel> model_;
};

/// Lets SummaryWriter::addFigure() take a FigureGrid.
template <>
struct FigureTraits<FigureGrid> {
  STEPTAPE_EXPORT static CapturedFigure capture(const FigureGrid& grid);
};

}  // namespace steptape
