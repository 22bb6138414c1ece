// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/values/figure.h"

#include "values/charts/color.h"
#include "values/charts/plots.h"

namespace steptape::figure {

/// The content of a Figure. Copies share the plots.
struct FigureModel {
  using Limits = std::optional<std::pair<double, double>>;

  CanvasOptions canvas;
  std::string xLabel;
  std::string yLabel;
  Limits xLimits;
  Limits yLimits;
  AxisScale xScale = AxisScale::kLinear;
  AxisScale yScale = AxisScale::kLinear;
  LegendPlace legend = LegendPlace::kBest;
  bool grid = true;
  std::vector<PlotPtr> plots;
  int nextColor = 0;
  int barPlots = 0;                 ///< Number of bar plots side by side.
  Color lastColor = cycleColor(0);  ///< Color of the last plot.
};

}  // namespace steptape::figure
