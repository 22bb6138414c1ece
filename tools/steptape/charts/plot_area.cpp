// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/plot_area.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace steptape::tools {
namespace {

/// Columns between two marks of a curve.
constexpr int kMarkDistance = 16;

int dotAt(double position) {
  return static_cast<int>(std::lround(position));
}

/// Draws a point without neighbors as several dots, because one is easy to miss.
void drawAlone(const Place& place, BrailleCanvas* canvas) {
  const int x = std::clamp(dotAt(place.x), 0, canvas->dotsAcross() - 2);
  const int y = std::clamp(dotAt(place.y), 0, canvas->dotsDown() - 2);
  canvas->line(x, y, x + 1, y);
  canvas->line(x, y + 1, x + 1, y + 1);
}

void draw(const std::vector<std::vector<Place>>& lines, BrailleCanvas* canvas) {
  for (const std::vector<Place>& line : lines) {
    if (line.size() == 1) {
      drawAlone(line.front(), canvas);
    }
    for (std::size_t i = 1; i < line.size(); ++i) {
      canvas->line(dotAt(line[i - 1].x), dotAt(line[i - 1].y), dotAt(line[i].x), dotAt(line[i].y));
    }
  }
}

/// Returns the middle row of the dots of `canvas` in `column`; -1 if there are none.
int middleRow(const BrailleCanvas& canvas, int column) {
  std::vector<int> rows;
  for (int row = 0; row < canvas.rows(); ++row) {
    if (canvas.dotsAt(column, row) != 0) {
      rows.push_back(row);
    }
  }
  return rows.empty() ? -1 : rows[rows.size() / 2];
}

}  // namespace

PlotArea::PlotArea(const Chart& chart, const Axes& axes, int columns, int rows,
                   const CurveStyle& style)
    : columns_(columns), rows_(rows), style_(style) {
  // Without color, the background values would look like the curve.
  for (std::size_t i = 0; style.hasColor() && i < chart.curves.size(); ++i) {
    addLayer(chart, axes, i, chart.curves[i].raw, true);
  }
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    addLayer(chart, axes, i, chart.curves[i].y, false);
  }
}

std::string PlotArea::row(int row) const {
  std::string line;
  std::string piece;
  const Layer* owner = nullptr;
  for (int column = 0; column < columns_; ++column) {
    const Cell cell = cellAt(column, row);
    if (cell.layer != owner) {
      line += painted(piece, owner);
      piece.clear();
      owner = cell.layer;
    }
    piece += cell.text;
  }
  return owner == nullptr ? line : line + painted(piece, owner);
}

int PlotArea::columnAt(double positionX) const {
  return dotAt(positionX * (columns_ * BrailleCanvas::kDotsAcross - 1)) /
         BrailleCanvas::kDotsAcross;
}

int PlotArea::rowAt(double positionY) const {
  return dotAt((1 - positionY) * (rows_ * BrailleCanvas::kDotsDown - 1)) / BrailleCanvas::kDotsDown;
}

void PlotArea::addLayer(const Chart& chart, const Axes& axes, std::size_t curve,
                        const std::vector<double>& y, bool isFaint) {
  Layer layer{BrailleCanvas(columns_, rows_), curve, isFaint, {}};
  draw(linesOf(chart, axes, chart.curves[curve].x, y, layer.canvas.dotsAcross() - 1,
               layer.canvas.dotsDown() - 1, layer.canvas.dotsAcross()),
       &layer.canvas);
  layer.markRows = markRowsOf(layer, chart.curves.size());
  layers_.push_back(std::move(layer));
}

/// Returns the rows of marks at regular columns, and at the last column of the curve.
std::vector<int> PlotArea::markRowsOf(const Layer& layer, std::size_t curves) const {
  std::vector<int> marks(static_cast<std::size_t>(columns_), -1);
  if (!style_.hasMarks() || layer.isFaint) {
    return marks;
  }
  // Marks of neighboring curves alternate.
  const auto offset = static_cast<int>(layer.curve * kMarkDistance / curves);
  bool isLast = true;
  for (int column = columns_ - 1; column >= 0; --column) {
    const int row = middleRow(layer.canvas, column);
    if (row >= 0 && (isLast || column % kMarkDistance == offset)) {
      marks[static_cast<std::size_t>(column)] = row;
    }
    isLast = isLast && row < 0;
  }
  return marks;
}

PlotArea::Cell PlotArea::cellAt(int column, int row) const {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    if (layer->markRows[static_cast<std::size_t>(column)] == row) {
      return {std::string(1, style_.markOf(layer->curve)), &*layer};
    }
  }
  const Layer* top = nullptr;
  std::uint8_t dots = 0;
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    const std::uint8_t own = layer->canvas.dotsAt(column, row);
    // Faint lines do not cover others.
    if (own != 0 && (top == nullptr || layer->isFaint == top->isFaint)) {
      top = top == nullptr ? &*layer : top;
      dots = static_cast<std::uint8_t>(dots | own);
    }
  }
  if (top == nullptr) {
    return {};
  }
  const std::string mark(1, top->isFaint ? '.' : style_.markOf(top->curve));
  return {style_.hasLines() ? BrailleCanvas::pattern(dots) : mark, top};
}

std::string PlotArea::painted(const std::string& text, const Layer* layer) const {
  if (layer == nullptr || text.empty()) {
    return text;
  }
  return layer->isFaint ? style_.faint(text) : style_.painted(text, layer->curve);
}

}  // namespace steptape::tools
