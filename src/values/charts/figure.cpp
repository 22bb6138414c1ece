// SPDX-License-Identifier: Apache-2.0
#include "steptape/values/figure.h"

#include <cmath>
#include <utility>

#include "base/got_expected.h"
#include "values/charts/model.h"
#include "values/charts/render.h"

namespace steptape {
namespace {

using figure::Color;

/// Returns the color that a plot requests, or the next one.
Color colorFor(const std::string& color, const std::string& where, figure::FigureModel* model) {
  return color.empty() ? figure::cycleColor(model->nextColor) : figure::parseColor(color, where);
}

/// Adds a plot that uses `color`. Called last, so that a call that throws changes nothing.
void add(figure::PlotPtr plot, const std::string& chosen, const Color& color,
         figure::FigureModel* model) {
  model->plots.push_back(std::move(plot));
  model->nextColor += chosen.empty() ? 1 : 0;
  model->lastColor = color;
}

void checkLimits(double min, double max, const std::string& where) {
  if (!std::isfinite(min) || !std::isfinite(max) || min >= max) {
    detail::base::reject("the limits " + std::to_string(min) + " and " + std::to_string(max),
                         "finite numbers, the first less than the second", where);
  }
}

void checkScale(AxisScale scale, const figure::FigureModel::Limits& limits,
                const std::string& where) {
  if (scale == AxisScale::kLog && limits && limits->first <= 0) {
    detail::base::reject("the lower limit " + std::to_string(limits->first),
                         "a positive one on a logarithmic axis", where);
  }
}

PngImage draw(const figure::FigureModel& model) {
  const CanvasOptions& size = model.canvas;
  figure::Canvas canvas(size.width, size.height, size.dpi);
  figure::drawFigure(
      model, {0, 0, static_cast<double>(size.width), static_cast<double>(size.height)}, &canvas);
  return figure::encoded(&canvas);
}

}  // namespace

Figure::Figure() : Figure(CanvasOptions()) {}

Figure::Figure(CanvasOptions options) : model_(std::make_unique<figure::FigureModel>()) {
  figure::checkCanvas(options.width, options.height, options.dpi, "Figure");
  model_->canvas = std::move(options);
}

Figure::Figure(const Figure& other)
    : model_(std::make_unique<figure::FigureModel>(*other.model_)) {}

Figure& Figure::operator=(const Figure& other) {
  *this = Figure(other);
  return *this;
}

Figure::Figure(Figure&& other) noexcept = default;
Figure& Figure::operator=(Figure&& other) noexcept = default;
Figure::~Figure() = default;

Figure& Figure::line(const TensorView& x, const TensorView& y, const LineOptions& options) {
  const Color color = colorFor(options.color, "Figure::line", model_.get());
  add(figure::linePlot(x, y, options, color), options.color, color, model_.get());
  return *this;
}

Figure& Figure::line(const TensorView& y, const LineOptions& options) {
  const Color color = colorFor(options.color, "Figure::line", model_.get());
  add(figure::linePlot(std::nullopt, y, options, color), options.color, color, model_.get());
  return *this;
}

Figure& Figure::scatter(const TensorView& x, const TensorView& y, const ScatterOptions& options) {
  const Color color = colorFor(options.color, "Figure::scatter", model_.get());
  add(figure::scatterPlot(x, y, options, color), options.color, color, model_.get());
  return *this;
}

Figure& Figure::bar(const TensorView& heights, const BarOptions& options) {
  const Color color = colorFor(options.color, "Figure::bar", model_.get());
  const bool isStacked = !options.bottom.empty() && model_->barPlots > 0;
  const int place = model_->barPlots - (isStacked ? 1 : 0);
  add(figure::barPlot(heights, options, color, place), options.color, color, model_.get());
  model_->barPlots = place + 1;
  return *this;
}

Figure& Figure::histogram(const TensorView& values, const HistogramPlotOptions& options) {
  const Color color = colorFor(options.color, "Figure::histogram", model_.get());
  add(figure::histogramPlot(values, options, color), options.color, color, model_.get());
  return *this;
}

Figure& Figure::fillBetween(const TensorView& x, const TensorView& lower, const TensorView& upper,
                            const BandOptions& options) {
  const Color color = options.color.empty()
                          ? model_->lastColor
                          : figure::parseColor(options.color, "Figure::fillBetween");
  model_->plots.push_back(figure::bandPlot(x, lower, upper, options, color));
  return *this;
}

Figure& Figure::horizontalLine(double y, const RuleOptions& options) {
  model_->plots.push_back(figure::rulePlot(y, figure::Direction::kHorizontal, options));
  return *this;
}

Figure& Figure::verticalLine(double x, const RuleOptions& options) {
  model_->plots.push_back(figure::rulePlot(x, figure::Direction::kVertical, options));
  return *this;
}

Figure& Figure::text(double x, double y, std::string text, const AnnotationOptions& options) {
  model_->plots.push_back(figure::annotation(x, y, std::move(text), options));
  return *this;
}

Figure& Figure::heatMap(const TensorView& matrix, const HeatMapOptions& options) {
  model_->plots.push_back(figure::heatMapPlot(matrix, options));
  return *this;
}

Figure& Figure::confusionMatrix(const TensorView& counts,
                                const std::vector<std::string>& classNames,
                                const ConfusionMatrixOptions& options) {
  model_->plots.push_back(figure::confusionMatrixPlot(counts, classNames, options));
  if (model_->xLabel.empty() && model_->yLabel.empty()) {
    model_->xLabel = "Predicted class";
    model_->yLabel = "True class";
  }
  return *this;
}

Figure& Figure::flameGraph(const std::vector<FlameBlock>& blocks) {
  model_->plots.push_back(figure::flamePlot(blocks));
  return *this;
}

Figure& Figure::setTitle(std::string title) {
  model_->canvas.title = std::move(title);
  return *this;
}

Figure& Figure::setXLabel(std::string label) {
  model_->xLabel = std::move(label);
  return *this;
}

Figure& Figure::setYLabel(std::string label) {
  model_->yLabel = std::move(label);
  return *this;
}

Figure& Figure::setXLimits(double min, double max) {
  checkLimits(min, max, "Figure::setXLimits");
  checkScale(model_->xScale, std::pair(min, max), "Figure::setXLimits");
  model_->xLimits = std::pair(min, max);
  return *this;
}

Figure& Figure::setYLimits(double min, double max) {
  checkLimits(min, max, "Figure::setYLimits");
  checkScale(model_->yScale, std::pair(min, max), "Figure::setYLimits");
  model_->yLimits = std::pair(min, max);
  return *this;
}

Figure& Figure::setXScale(AxisScale scale) {
  checkScale(scale, model_->xLimits, "Figure::setXScale");
  model_->xScale = scale;
  return *this;
}

Figure& Figure::setYScale(AxisScale scale) {
  checkScale(scale, model_->yLimits, "Figure::setYScale");
  model_->yScale = scale;
  return *this;
}

Figure& Figure::setLegend(LegendPlace place) {
  model_->legend = place;
  return *this;
}

Figure& Figure::setGrid(bool visible) {
  model_->grid = visible;
  return *this;
}

PngImage Figure::render() const {
  return draw(*model_);
}

std::shared_ptr<const figure::FigureModel> Figure::snapshot() const {
  return std::make_shared<const figure::FigureModel>(*model_);
}

CapturedFigure FigureTraits<Figure>::capture(const Figure& figure) {
  CapturedFigure captured;
  for (const figure::PlotPtr& plot : figure.model_->plots) {
    captured.bytes += plot->bytes();
  }
  captured.draw = [model = figure.snapshot()] { return draw(*model); };
  return captured;
}

}  // namespace steptape
