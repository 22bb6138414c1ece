// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/values/figure.h"
#include "steptape/values/tensor_view.h"

#include "values/charts/color.h"
#include "values/charts/plot.h"

namespace steptape::figure {

// The kinds of plots. Each function checks its arguments, as documented for the call of the same
// name in figure.h, and keeps a copy. `color` is the color that the options select.

using PlotPtr = std::shared_ptr<const Plot>;

PlotPtr linePlot(const std::optional<TensorView>& x, const TensorView& y,
                 const LineOptions& options, const Color& color);
PlotPtr scatterPlot(const TensorView& x, const TensorView& y, const ScatterOptions& options,
                    const Color& color);
PlotPtr bandPlot(const TensorView& x, const TensorView& lower, const TensorView& upper,
                 const BandOptions& options, const Color& color);
/// @param index Index of these bars among the figure's bars that are side by side, from 0.
PlotPtr barPlot(const TensorView& heights, const BarOptions& options, const Color& color,
                int index);
PlotPtr histogramPlot(const TensorView& values, const HistogramPlotOptions& options,
                      const Color& color);

enum class Direction { kHorizontal, kVertical };
PlotPtr rulePlot(double at, Direction direction, const RuleOptions& options);
PlotPtr annotation(double x, double y, std::string text, const AnnotationOptions& options);

PlotPtr heatMapPlot(const TensorView& matrix, const HeatMapOptions& options);
PlotPtr confusionMatrixPlot(const TensorView& counts, const std::vector<std::string>& classNames,
                            const ConfusionMatrixOptions& options);

PlotPtr flamePlot(const std::vector<FlameBlock>& blocks);

}  // namespace steptape::figure
