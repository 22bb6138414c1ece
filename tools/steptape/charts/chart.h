// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/charts/value_axis.h"

namespace steptape::tools {

/// The points of a tag in one run.
struct Curve {
  std::string name;     ///< For the legend.
  std::string summary;  ///< Next to the name: "0.25 at step 999".
  std::vector<double> x;
  std::vector<double> y;    ///< As long as `x`.
  std::vector<double> raw;  ///< Unsmoothed values, drawn faintly in the background; empty: none.
};

/// A chart, independent of the medium.
struct Chart {
  std::string title;
  std::string xName;
  AxisKind xKind = AxisKind::kSteps;
  AxisKind yKind = AxisKind::kNumbers;
  std::vector<Curve> curves;
};

/// Returns whether a chart can show the point: it is finite, and positive on a logarithmic axis.
bool isDrawable(const Chart& chart, double x, double y);

struct Range {
  double min;
  double max;
};

/// The ranges that the axes of a chart cover: all drawable points; a default range if there are
/// none.
struct Extent {
  Range x;
  Range y;
};
Extent extentOf(const Chart& chart);

struct Axes {
  Axis x;
  Axis y;
};

/// A position on a drawing, relative to its top left.
struct Place {
  double x;
  double y;
};

/// Returns the lines that connect the points (x, y), in order, on a drawing of `width` x `height`.
///
/// A point that cannot be drawn ends a line. Of consecutive points in the same one of `columns`
/// columns, the first, lowest, highest and last remain.
std::vector<std::vector<Place>> linesOf(const Chart& chart, const Axes& axes,
                                        const std::vector<double>& x, const std::vector<double>& y,
                                        double width, double height, int columns);

}  // namespace steptape::tools
