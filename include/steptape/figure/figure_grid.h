// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/figure/figure.h"
#include "steptape/summary/figure_traits.h"

namespace steptape {

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
