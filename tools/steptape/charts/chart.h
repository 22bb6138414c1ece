// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/charts/axis.h"

namespace steptape::tools {

/// One run's points of a tag.
struct Curve {
  std::string name;     ///< For the legend.
  std::string summary;  ///< Beside the name: "0.25 at step 999".
  std::vector<double> x;
  std::vector<double> y;    ///< As long as `x`.
  std::vector<double> raw;  ///< What `y` smooths, drawn faintly behind it; empty: nothing.
};

/// What a chart shows, whatever it is drawn on.
struct Chart {
  std::string title;
  std::string xName;
  AxisKind xKind = AxisKind::kSteps;
  AxisKind yKind = AxisKind::kNumbers;
  std::vector<Curve> curves;
};

/// Whether a chart can show the point: finite, and above 0 where the axis is logarithmic.
bool isDrawable(const Chart& chart, double x, double y);

struct Range {
  double min;
  double max;
};

/// What the axes of a chart have to cover: all drawable points; something if there is none.
struct Extent {
  Range x;
  Range y;
};
Extent extentOf(const Chart& chart);

struct Axes {
  Axis x;
  Axis y;
};

/// A place on a drawing, counted from its top left.
struct Place {
  double x;
  double y;
};

/// The lines that join the points (x, y) on a drawing of `width` x `height`, in their order.
///
/// A point that cannot be drawn ends a line. Of many points in a row that share one of `columns`
/// columns, those remain that tell: first, lowest, highest, last.
std::vector<std::vector<Place>> linesOf(const Chart& chart, const Axes& axes,
                                        const std::vector<double>& x, const std::vector<double>& y,
                                        double width, double height, int columns);

}  // namespace steptape::tools
