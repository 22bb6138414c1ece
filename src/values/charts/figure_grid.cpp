// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "steptape/values/figure.h"

#include "base/got_expected.h"
#include "values/charts/model.h"
#include "values/charts/render.h"

namespace steptape::figure {

/// The content of a FigureGrid; immutable.
struct FigureGridModel {
  std::vector<std::shared_ptr<const FigureModel>> figures;
  FigureGridOptions options;
};

}  // namespace steptape::figure

namespace steptape {

namespace {

constexpr double kLeastCell = 64;
constexpr double kGridTitleSize = 14;

figure::Rect cellOf(const figure::FigureGridModel& model, std::size_t index, double top) {
  const int columns = static_cast<int>(model.options.columns);
  const int rows = (static_cast<int>(model.figures.size()) + columns - 1) / columns;
  const int column = static_cast<int>(index) % columns;
  const int row = static_cast<int>(index) / columns;
  // Rounds edges instead of sizes, so that there are no gaps between cells.
  const auto edge = [](double begin, double size, int i, int count) {
    return begin + std::round(size * i / count);
  };
  const double width = model.options.width;
  const double height = model.options.height - top;
  const double left = edge(0, width, column, columns);
  const double upper = edge(top, height, row, rows);
  return {left, upper, edge(0, width, column + 1, columns) - left,
          edge(top, height, row + 1, rows) - upper};
}

/// Returns the height of the title in pixels.
double titleHeight(const FigureGridOptions& options) {
  constexpr double kPointsPerInch = 72;
  return options.title.empty() ? 0 : std::round(2 * kGridTitleSize * options.dpi / kPointsPerInch);
}

PngImage draw(const figure::FigureGridModel& model) {
  const FigureGridOptions& options = model.options;
  figure::Canvas canvas(options.width, options.height, options.dpi);
  const double top = titleHeight(options);
  figure::TextStyle style;
  style.size = kGridTitleSize;
  style.bold = true;
  style.anchor = TextAnchor::kCenter;
  canvas.text({canvas.shortened(options.title, options.width, style), ""},
              {options.width / 2.0, top * 0.6}, style);
  for (std::size_t i = 0; i < model.figures.size(); ++i) {
    figure::drawFigure(*model.figures[i], cellOf(model, i, top), &canvas);
  }
  return figure::encoded(&canvas);
}

}  // namespace

FigureGrid::FigureGrid(const std::vector<Figure>& figures, FigureGridOptions options) {
  const std::string where = "FigureGrid";
  if (figures.empty()) {
    detail::base::reject("no figures", "at least one", where);
  }
  if (options.columns < 1) {
    detail::base::reject("columns = " + std::to_string(options.columns), "at least 1", where);
  }
  figure::checkCanvas(options.width, options.height, options.dpi, where);
  figure::FigureGridModel model;
  options.columns = std::min(options.columns, static_cast<std::int64_t>(figures.size()));
  model.options = std::move(options);
  for (const Figure& figure : figures) {
    model.figures.push_back(figure.snapshot());
  }
  const figure::Rect cell = cellOf(model, 0, titleHeight(model.options));
  if (cell.width < kLeastCell || cell.height < kLeastCell) {
    detail::base::reject(std::to_string(static_cast<int>(cell.width)) + " x " +
                             std::to_string(static_cast<int>(cell.height)) +
                             " pixels for each of " + std::to_string(figures.size()) +
                             " figures in " + std::to_string(model.options.columns) + " columns",
                         "at least 64 pixels to a side", where);
  }
  model_ = std::make_shared<const figure::FigureGridModel>(std::move(model));
}

PngImage FigureGrid::render() const {
  return draw(*model_);
}

CapturedFigure FigureTraits<FigureGrid>::capture(const FigureGrid& grid) {
  CapturedFigure captured;
  for (const auto& figure : grid.model_->figures) {
    for (const figure::PlotPtr& plot : figure->plots) {
      captured.bytes += plot->bytes();
    }
  }
  captured.draw = [model = grid.model_] { return draw(*model); };
  return captured;
}

}  // namespace steptape
