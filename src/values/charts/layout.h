// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "values/charts/axis.h"
#include "values/charts/canvas.h"
#include "values/charts/model.h"
#include "values/charts/plot.h"
#include "values/charts/ticks.h"

namespace steptape::figure {

/// One axis with its marks.
struct AxisMarks {
  Ticks ticks;
  bool hasCategories = false;  ///< Categories instead of numbers.
  bool areTilted = false;      ///< Drawn at 45 degrees, because they are too wide.
};

/// The requirements of the plots of a figure, before layout.
struct Contents {
  AxisData x;
  AxisData y;
  bool grid = true;
  bool fillsAxes = false;
  bool squareCells = false;
  const Colorbar* colorbar = nullptr;
  double besideWidth = 0;  ///< Pixels to keep free at the right, such as for a legend.
};

/// The positions of all parts of a figure.
struct Layout {
  Frame frame;
  AxisMarks x;
  AxisMarks y;
  Rect colorbar;  ///< Empty if there is none.
  Ticks colorbarTicks;
  Point title;
  Point xLabel;
  Point yLabel;
  Point colorbarLabel;
  double titleWidth = 0;  ///< Available width of the title.
};

inline constexpr double kTickLength = 3.5;
inline constexpr double kMinorTickLength = 2;
/// Distance between a tick and its name in points.
inline constexpr double kTickGap = 2.5;

/// Lays out all parts within `cell`.
Layout layOut(const FigureModel& model, const Contents& contents, const Rect& cell, Canvas* canvas);

}  // namespace steptape::figure
