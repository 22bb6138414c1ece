// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/got_expected.h"
#include "values/charts/checks.h"
#include "values/charts/numbers.h"
#include "values/charts/plots.h"

namespace steptape::figure {
namespace {

/// Numbers by row and column.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values = {};

  double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// Cells [first, last) of one dimension.
struct CellSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Returns the cells that each of `pixels` pixels along an axis shows: the cell at the pixel's
/// center, or if cells are smaller than pixels, all cells whose centers are in the pixel.
std::vector<CellSpan> spansOf(const AxisRange& range, double pixels, bool fromTheEnd,
                              std::int64_t cells) {
  std::vector<CellSpan> spans;
  for (int pixel = 0; pixel < pixels; ++pixel) {
    const double place = fromTheEnd ? pixels - 1 - pixel : pixel;
    const double a = range.value(place / pixels);
    const double b = range.value((place + 1) / pixels);
    const double low = std::min(a, b);
    const double high = std::max(a, b);
    const bool isSmall = high - low > 1;
    const double first = isSmall ? std::ceil(low) : std::floor(low / 2 + high / 2 + 0.5);
    const double last = isSmall ? std::ceil(high) : first + 1;
    const auto size = static_cast<double>(cells);
    spans.push_back({static_cast<std::int64_t>(std::clamp(first, 0.0, size)),
                     static_cast<std::int64_t>(std::clamp(last, 0.0, size))});
  }
  return spans;
}

/// Returns the mean of the finite numbers; NaN if there are none.
double meanOf(const Matrix& matrix, const CellSpan& rows, const CellSpan& columns) {
  double sum = 0;
  double count = 0;
  for (std::int64_t row = rows.first; row < rows.last; ++row) {
    for (std::int64_t column = columns.first; column < columns.last; ++column) {
      const double value = matrix.at(row, column);
      sum += std::isfinite(value) ? value : 0;
      count += std::isfinite(value) ? 1 : 0;
    }
  }
  return count > 0 ? sum / count : std::nan("");
}

/// Names of the rows and columns, and texts of the cells; each may be empty.
struct CellTexts {
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::string> cells;
};

class HeatMapDrawing : public Drawing {
 public:
  HeatMapDrawing(Matrix matrix, Colorbar colors, CellTexts texts, bool showColorbar, bool square)
      : matrix_(std::move(matrix)),
        colors_(std::move(colors)),
        texts_(std::move(texts)),
        showColorbar_(showColorbar),
        square_(square) {}

  void extend(AxisData* x, AxisData* y) const override {
    x->includeEdge(-0.5);
    x->includeEdge(static_cast<double>(matrix_.columns) - 0.5);
    x->setCategories(texts_.columns);
    x->setWhole();
    y->includeEdge(-0.5);
    y->includeEdge(static_cast<double>(matrix_.rows) - 0.5);
    y->setCategories(texts_.rows);
    y->setWhole();
    y->setInverted();
  }

  bool fillsAxes() const override { return true; }
  bool hasSquareCells() const override { return square_; }
  const Colorbar* colorbar() const override { return showColorbar_ ? &colors_ : nullptr; }

  void draw(const Frame& frame, Canvas* canvas) const override {
    const std::vector<CellSpan> columns =
        spansOf(frame.x, frame.area.width, false, matrix_.columns);
    const std::vector<CellSpan> rows = spansOf(frame.y, frame.area.height, true, matrix_.rows);
    std::vector<Color> pixels;
    pixels.reserve(columns.size() * rows.size());
    for (const CellSpan& row : rows) {
      for (const CellSpan& column : columns) {
        pixels.push_back(colorOf(meanOf(matrix_, row, column)));
      }
    }
    canvas->paint(frame.area, pixels);
    if (!texts_.cells.empty()) {
      drawTexts(frame, canvas);
    }
  }

 private:
  Color colorOf(double value) const {
    return std::isnan(value)
               ? Color{0, 0, 0, 0}
               : colors_.colormap.at((value - colors_.min) / (colors_.max - colors_.min));
  }

  /// Draws the texts of the cells in one size; none if they would be too small to read.
  void drawTexts(const Frame& frame, Canvas* canvas) const {
    constexpr double kLargest = 9;
    constexpr double kSmallest = 5;
    TextStyle style;
    style.size = kLargest;
    style.anchor = TextAnchor::kCenter;
    double widest = 0;
    for (const std::string& text : texts_.cells) {
      widest = std::max(widest, canvas->textWidth({text, ""}, style));
    }
    const double cellWidth = std::abs(frame.pixelX(1) - frame.pixelX(0));
    const double cellHeight = std::abs(frame.pixelY(1) - frame.pixelY(0));
    style.size = kLargest * std::min({1.0, 0.85 * cellWidth / widest,
                                      0.9 * cellHeight / canvas->lineHeight(kLargest)});
    if (!(style.size >= kSmallest)) {
      return;
    }
    for (std::int64_t row = 0; row < matrix_.rows; ++row) {
      for (std::int64_t column = 0; column < matrix_.columns; ++column) {
        const double value = matrix_.at(row, column);
        style.color = std::isfinite(value) ? textColorOn(colorOf(value)) : kInk;
        const auto i = static_cast<std::size_t>(row * matrix_.columns + column);
        canvas->text({texts_.cells[i], ""},
                     frame.at(static_cast<double>(column), static_cast<double>(row)), style);
      }
    }
  }

  Matrix matrix_;
  Colorbar colors_;
  CellTexts texts_;
  bool showColorbar_;
  bool square_;
};

Matrix matrixOf(const TensorView& view) {
  return {view.shape()[0], view.shape()[1], numbersOf(view)};
}

/// Returns the given limits, with the smallest and largest finite number as defaults; never equal.
std::pair<double, double> colorLimits(const Matrix& matrix, std::optional<double> min,
                                      std::optional<double> max) {
  AxisData data;
  for (const double value : matrix.values) {
    data.include(value);
  }
  const auto [least, largest] = data.extremes();
  const double low = min.value_or(least);
  const double high = max.value_or(largest);
  if (low < high) {
    return {low, high};
  }
  return max ? std::pair(*max - 1, *max) : std::pair(low, low + std::max(1.0, std::abs(low) / 2));
}

class HeatMapPlot : public Plot {
 public:
  HeatMapPlot(const TensorView& matrix, HeatMapOptions options)
      : matrix_(keep(matrix)),
        options_(std::move(options)),
        colormap_(options_.colormap, "Figure::heatMap") {}

  std::size_t bytes() const override { return matrix_.nbytes(); }

  std::unique_ptr<Drawing> prepare(const PlotGroup& /*group*/) const override {
    Matrix matrix = matrixOf(matrix_);
    const auto [min, max] = colorLimits(matrix, options_.min, options_.max);
    return std::make_unique<HeatMapDrawing>(
        std::move(matrix), Colorbar{colormap_, min, max, options_.colorbarLabel},
        CellTexts{options_.xLabels, options_.yLabels, {}}, options_.colorbar, options_.squareCells);
  }

 private:
  TensorView matrix_;
  HeatMapOptions options_;
  Colormap colormap_;
};

/// Divides each row by its sum; leaves a row of zeros unchanged.
void normalizeRows(Matrix* matrix) {
  for (std::int64_t row = 0; row < matrix->rows; ++row) {
    const auto first = matrix->values.begin() + row * matrix->columns;
    double sum = 0;
    std::for_each(first, first + matrix->columns, [&](double count) { sum += count; });
    if (sum != 0) {
      std::for_each(first, first + matrix->columns, [&](double& count) { count /= sum; });
    }
  }
}

/// Formats the numbers for the cells: shares with two decimals, counts without.
std::vector<std::string> cellTexts(const std::vector<double>& values, bool areShares) {
  const bool areWhole = std::all_of(values.begin(), values.end(),
                                    [](double value) { return value == std::floor(value); });
  const char* const format = areShares ? "%.2f" : areWhole ? "%.0f" : "%.3g";
  std::vector<std::string> texts;
  for (const double value : values) {
    std::array<char, 400> text;  // a double has up to 309 digits before the point
    std::snprintf(text.data(), text.size(), format, value);
    texts.emplace_back(text.data());
  }
  return texts;
}

class ConfusionMatrixPlot : public Plot {
 public:
  ConfusionMatrixPlot(const TensorView& counts, std::vector<std::string> classNames,
                      const ConfusionMatrixOptions& options)
      : counts_(keep(counts)),
        classNames_(std::move(classNames)),
        normalize_(options.normalize),
        showColorbar_(options.colorbar),
        colormap_(options.colormap, "Figure::confusionMatrix") {
    // A larger axis is numbered like any other axis.
    constexpr std::int64_t kMostNumbered = 20;
    const std::int64_t classes = counts.shape()[0];
    if (classNames_.empty() && classes <= kMostNumbered) {
      for (std::int64_t i = 0; i < classes; ++i) {
        classNames_.push_back(std::to_string(i));
      }
    }
  }

  std::size_t bytes() const override { return counts_.nbytes(); }

  std::unique_ptr<Drawing> prepare(const PlotGroup& /*group*/) const override {
    Matrix matrix = matrixOf(counts_);
    if (normalize_) {
      normalizeRows(&matrix);
    }
    CellTexts texts{classNames_, classNames_, cellTexts(matrix.values, normalize_)};
    const auto [min, max] = colorLimits(matrix, 0, normalize_ ? std::optional(1.0) : std::nullopt);
    return std::make_unique<HeatMapDrawing>(std::move(matrix), Colorbar{colormap_, min, max, ""},
                                            std::move(texts), showColorbar_, true);
  }

 private:
  TensorView counts_;
  std::vector<std::string> classNames_;
  bool normalize_;
  bool showColorbar_;
  Colormap colormap_;
};

}  // namespace

PlotPtr heatMapPlot(const TensorView& matrix, const HeatMapOptions& options) {
  const std::string where = "Figure::heatMap";
  if (matrix.rank() != 2 || matrix.numel() == 0) {
    detail::base::reject("a matrix of shape " + matrix.shapeString(),
                         "(rows, columns), neither of them 0", where);
  }
  checkCount(options.xLabels.size(), matrix.shape()[1], "xLabels", "column", where);
  checkCount(options.yLabels.size(), matrix.shape()[0], "yLabels", "row", where);
  for (const std::optional<double>& limit : {options.min, options.max}) {
    if (limit && !std::isfinite(*limit)) {
      detail::base::reject("the limit " + std::to_string(*limit), "a finite number", where);
    }
  }
  if (options.min && options.max && !(*options.min < *options.max)) {
    detail::base::reject(
        "min = " + std::to_string(*options.min) + " and max = " + std::to_string(*options.max),
        "min less than max", where);
  }
  return std::make_shared<HeatMapPlot>(matrix, options);
}

PlotPtr confusionMatrixPlot(const TensorView& counts, const std::vector<std::string>& classNames,
                            const ConfusionMatrixOptions& options) {
  const std::string where = "Figure::confusionMatrix";
  if (counts.rank() != 2 || counts.shape()[0] != counts.shape()[1] || counts.numel() == 0) {
    detail::base::reject("counts of shape " + counts.shapeString(),
                         "as many rows as columns, at least one", where);
  }
  checkCount(classNames.size(), counts.shape()[0], "classNames", "class", where);
  return std::make_shared<ConfusionMatrixPlot>(counts, classNames, options);
}

}  // namespace steptape::figure
