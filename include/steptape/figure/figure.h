// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/figure/plot_options.h"
#include "steptape/summary/figure_traits.h"
#include "steptape/summary/tensor_view.h"

namespace steptape {

struct FigureModel;

/// A chart for TensorBoard's image page, in matplotlib's terms.
///
///     steptape::Figure figure({.title = "Loss", .width = 480, .height = 320});
///     figure.line(steps, train, {.label = "train"}).line(steps, test, {.label = "test"});
///     figure.setXLabel("step").setYScale(steptape::AxisScale::kLog);
///     writer.addFigure("loss", figure, step);
///
/// Building one only notes what is to be drawn: each call copies the numbers it is given, in their
/// own type, and checks their shapes. Binning, layout and drawing happen when the figure is
/// rendered, which addFigure() does on the background thread. A tensor that is still on its way
/// from a device is waited for there, too.
///
/// NaN and infinities leave gaps and do not count for the limits; so do numbers that are not
/// positive on a logarithmic axis. Axes without data are drawn empty. Limits that are not set hold
/// all the data, with a margin. The legend appears as soon as something has a label.
///
/// Figures are values: a copy shares the numbers, which nobody changes, and costs little. The text
/// is UTF-8; what is not is replaced by U+FFFD. It is set in the system's sans-serif font; where no
/// font at all is installed Cairo draws letters of its own, which know ASCII only.
///
/// Every call that adds or sets something returns the figure itself.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  Tufte, The Visual Display of Quantitative Information, for what is left out.
class STEPTAPE_EXPORT Figure {
 public:
  Figure();
  /// @throws Error(kInvalidArgument) if a side or the resolution is out of its range.
  explicit Figure(CanvasOptions options);
  Figure(const Figure& other);
  Figure& operator=(const Figure& other);
  Figure(Figure&& other) noexcept;
  Figure& operator=(Figure&& other) noexcept;
  ~Figure();

  // --- Plots -------------------------------------------------------------------------------------
  // All throw Error(kInvalidArgument) for lengths that differ, another number of dimensions, and
  // colors, markers, styles or colormaps that do not exist. All cost one copy of the numbers.

  /// Joins points by a line. A line of very many points keeps the extremes of each column of pixels
  /// (M4; Jugel et al., VLDB 2014), so that it looks as if all were drawn.
  ///
  /// @shape x and y: rank 1, equally long. Without x: 0, 1, 2, ...
  Figure& line(const TensorView& x, const TensorView& y, const LineOptions& options = {});
  Figure& line(const TensorView& y, const LineOptions& options = {});

  /// Draws a marker at each point.
  ///
  /// @shape x and y: rank 1, equally long.
  Figure& scatter(const TensorView& x, const TensorView& y, const ScatterOptions& options = {});

  /// Draws bars from 0, one at each of 0, 1, 2, ... Several calls stand side by side, or, with
  /// `options.bottom`, on top of each other.
  ///
  /// @shape Rank 1; as long as `options.labels` and `options.bottom`, if there are any.
  Figure& bar(const TensorView& heights, const BarOptions& options = {});

  /// Draws how often values fall into bins. A value on an edge belongs to the bin on its right, the
  /// last edge to the last bin. Several calls overlap, each a little transparent.
  ///
  /// @shape  Any.
  /// @throws Error(kInvalidArgument) if `bins` is not 1 to 10,000, or `edges` do not ascend.
  Figure& histogram(const TensorView& values, const HistogramPlotOptions& options = {});

  /// Fills the band between two curves, such as a mean's uncertainty.
  ///
  /// @shape Rank 1, equally long.
  Figure& fillBetween(const TensorView& x, const TensorView& lower, const TensorView& upper,
                      const BandOptions& options = {});

  /// Draws a line across the axes at `y`, or at `x`; it does not count for the limits of the other
  /// axis.
  Figure& horizontalLine(double y, const RuleOptions& options = {});
  Figure& verticalLine(double x, const RuleOptions& options = {});

  /// Writes `text` at a point of the axes, vertically centered on it.
  Figure& text(double x, double y, std::string text, const AnnotationOptions& options = {});

  /// Draws a matrix as colored cells, its first row at the top; cell (row, column) is centered at
  /// x = column, y = row. Where there are more cells than pixels, a pixel shows their mean.
  ///
  /// @shape  (rows, columns), with as many labels, if there are any.
  /// @throws Error(kInvalidArgument) if `options.min` is not below `options.max`.
  Figure& heatMap(const TensorView& matrix, const HeatMapOptions& options = {});

  /// Draws a confusion matrix with the number of each cell written in it, where there is room.
  ///
  /// @param counts     Rows are true classes, columns predicted ones.
  /// @param classNames One per class, or none: 0, 1, 2, ...
  /// @shape (classes, classes)
  Figure& confusionMatrix(const TensorView& counts, const std::vector<std::string>& classNames = {},
                          const ConfusionMatrixOptions& options = {});

  /// Draws a tree from the top down: each block lies below its parent, and is as wide as its share
  /// of the whole. Names are shortened to the width of their block, or left out; so are blocks that
  /// are narrower than a pixel. A name has the same color in every picture.
  ///
  /// @param blocks Those of the first row, from left to right.
  /// @throws Error(kInvalidArgument) naming the block whose `self` is negative or not finite.
  /// @cost   About 30 us for each block whose name is written.
  /// @source Gregg, "The Flame Graph", ACM Queue 14(2), 2016; this is its inverted form.
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
  /// Light lines at the ticks, on unless set; heat maps have none.
  Figure& setGrid(bool visible);

  // --- Result ------------------------------------------------------------------------------------

  /// Draws the figure here and now. addFigure() does so in the background instead.
  ///
  /// The same figure gives the same bytes, as long as Cairo and the font are the same.
  ///
  /// @cost About 11 ms for 640 x 480 pixels, 0.15 us for each point of a line and 4 us for each
  ///       marker of a scatter plot.
  PngImage render() const;

 private:
  friend struct FigureTraits<Figure>;
  friend class FigureGrid;

  std::shared_ptr<const FigureModel> snapshot() const;

  std::unique_ptr<FigureModel> model_;
};

/// Lets SummaryWriter::addFigure() take a Figure.
template <>
struct FigureTraits<Figure> {
  /// @cost A copy of the figure, without its numbers.
  STEPTAPE_EXPORT static CapturedFigure capture(const Figure& figure);
};

struct FigureGridModel;

/// Options of a FigureGrid.
struct FigureGridOptions {
  std::string title = {};
  int columns = 2;   ///< Figures to a row.
  int width = 960;   ///< Pixels, 64 to 8192; the figures share them, whatever their own sizes.
  int height = 480;  ///< Pixels, 64 to 8192.
  double dpi = 100;  ///< As in CanvasOptions; used for all of the figures.
};

/// Several figures in one picture: what matplotlib calls subplots.
///
///     Figure loss, accuracy;
///     ...
///     writer.addFigure("curves", FigureGrid({loss, accuracy}, {.title = "Run 7"}), step);
///
/// The figures lie row by row in cells of equal size.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT FigureGrid {
 public:
  /// @throws Error(kInvalidArgument) if there is no figure, `columns` is not positive, a side or
  ///         the resolution is out of its range, or a cell would be narrower or lower than 64
  ///         pixels.
  explicit FigureGrid(const std::vector<Figure>& figures, FigureGridOptions options = {});

  /// Draws the figures here and now. addFigure() does so in the background instead.
  PngImage render() const;

 private:
  friend struct FigureTraits<FigureGrid>;

  std::shared_ptr<const FigureGridModel> model_;
};

/// Lets SummaryWriter::addFigure() take a FigureGrid.
template <>
struct FigureTraits<FigureGrid> {
  STEPTAPE_EXPORT static CapturedFigure capture(const FigureGrid& grid);
};

}  // namespace steptape
