// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace steptape::tools {
namespace {

void include(double value, Range* range) {
  range->min = std::min(range->min, value);
  range->max = std::max(range->max, value);
}

/// A line of points, thinned within each column as they are added.
class ThinnedLine {
 public:
  explicit ThinnedLine(double columnWidth) : columnWidth_(columnWidth) {}

  void add(const Place& place) {
    const double index = std::floor(place.x / columnWidth_);
    if (!column_ || index != column_->index) {
      endColumn();
      column_ = Column{index, place, place, place, place, false};
      return;
    }
    column_->last = place;
    if (place.y < column_->highest.y) {
      column_->highest = place;
      column_->lowestIsFirst = true;
    }
    if (place.y > column_->lowest.y) {
      column_->lowest = place;
      column_->lowestIsFirst = false;
    }
  }

  /// Ends the line, and appends it to `lines` unless it is empty.
  void moveTo(std::vector<std::vector<Place>>* lines) {
    endColumn();
    if (!line_.empty()) {
      lines->push_back(std::move(line_));
    }
    line_.clear();
  }

 private:
  struct Column {
    double index;
    Place first;
    Place lowest;
    Place highest;
    Place last;
    bool lowestIsFirst;  // the lowest came before the highest
  };

  void endColumn() {
    if (!column_) {
      return;
    }
    append(column_->first);
    append(column_->lowestIsFirst ? column_->lowest : column_->highest);
    append(column_->lowestIsFirst ? column_->highest : column_->lowest);
    append(column_->last);
    column_.reset();
  }

  void append(const Place& place) {
    if (line_.empty() || line_.back().x != place.x || line_.back().y != place.y) {
      line_.push_back(place);
    }
  }

  double columnWidth_;
  std::optional<Column> column_;
  std::vector<Place> line_;
};

}  // namespace

bool isDrawable(const Chart& chart, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (y > 0 || chart.yKind != AxisKind::kLogarithmic);
}

Extent extentOf(const Chart& chart) {
  Extent extent{{HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, -HUGE_VAL}};
  for (const Curve& curve : chart.curves) {
    for (const std::vector<double>* values : {&curve.y, &curve.raw}) {
      for (std::size_t i = 0; i < values->size(); ++i) {
        if (isDrawable(chart, curve.x[i], (*values)[i])) {
          include(curve.x[i], &extent.x);
          include((*values)[i], &extent.y);
        }
      }
    }
  }
  const bool isEmpty = extent.x.min > extent.x.max;
  return isEmpty ? Extent{{0, 1}, {0.1, 1}} : extent;
}

std::vector<std::vector<Place>> linesOf(const Chart& chart, const Axes& axes,
                                        const std::vector<double>& x, const std::vector<double>& y,
                                        double width, double height, int columns) {
  std::vector<std::vector<Place>> lines;
  ThinnedLine line(width / columns);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (isDrawable(chart, x[i], y[i])) {
      line.add({axes.x.positionOf(x[i]) * width, (1 - axes.y.positionOf(y[i])) * height});
    } else {
      line.moveTo(&lines);
    }
  }
  line.moveTo(&lines);
  return lines;
}

}  // namespace steptape::tools
