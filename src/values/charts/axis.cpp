// SPDX-License-Identifier: Apache-2.0
#include "values/charts/axis.h"

#include <algorithm>
#include <cmath>

namespace steptape::figure {
namespace {

/// Margin at either end, as a share of the data's range.
constexpr double kDataMargin = 0.05;
/// Cairo's coordinates have 24 bits before the point. Strokes around a coordinate must fit too.
constexpr double kFarthest = 1e6;

/// Widens the limits around a single number, so that there is an axis to draw.
std::pair<double, double> widened(double value) {
  const double by = value == 0 ? 0.5 : std::abs(value) * 0.1;
  return {value - by, value + by};
}

std::pair<double, double> logLimits(double min, double max) {
  if (min == max) {
    return {min / 2, max * 2};
  }
  const double by = std::pow(max / min, kDataMargin);
  // Omits a margin that would exceed the range of double.
  const double low = min / by > 0 ? min / by : min;
  const double high = std::isfinite(max * by) ? max * by : max;
  return {low, high};
}

double bounded(double pixel) {
  return std::isnan(pixel) ? pixel : std::clamp(pixel, -kFarthest, kFarthest);
}

/// Returns NaN, a gap, for a number that is not finite. Otherwise an infinity would be drawn at the
/// bound.
double orGap(double value) {
  return std::isfinite(value) ? value : std::nan("");
}

}  // namespace

void AxisData::include(double value) {
  if (!std::isfinite(value)) {
    return;
  }
  min_ = empty_ ? value : std::min(min_, value);
  max_ = empty_ ? value : std::max(max_, value);
  empty_ = false;
  if (value > 0) {
    minPositive_ = hasPositive_ ? std::min(minPositive_, value) : value;
    hasPositive_ = true;
  }
}

void AxisData::includeEdge(double value) {
  include(value);
  edges_.insert(value);
}

void AxisData::setCategories(std::vector<std::string> names) {
  if (names.size() > categories_.size()) {
    categories_ = std::move(names);
  }
}

std::pair<double, double> AxisData::limits(AxisScale scale) const {
  if (scale == AxisScale::kLog) {
    // Half, so that even the smallest bar is visible.
    const double least = edges_.count(0) != 0 ? minPositive_ / 2 : minPositive_;
    return hasPositive_ ? logLimits(least, max_) : std::pair(1.0, 10.0);
  }
  if (empty_) {
    return {0, 1};
  }
  if (min_ == max_) {
    return widened(min_);
  }
  const double by = (max_ / 2 - min_ / 2) * 2 * kDataMargin;
  const double low = edges_.count(min_) != 0 ? min_ : min_ - by;
  const double high = edges_.count(max_) != 0 ? max_ : max_ + by;
  return std::isfinite(low) && std::isfinite(high) ? std::pair(low, high) : std::pair(min_, max_);
}

double AxisRange::fraction(double value) const {
  double place;
  if (scale == AxisScale::kLog) {
    place = value > 0 ? std::log(value / min) / std::log(max / min) : std::nan("");
  } else {
    // Halved, because the difference of two doubles may overflow.
    place = (value / 2 - min / 2) / (max / 2 - min / 2);
  }
  return inverted ? 1 - place : place;
}

double AxisRange::value(double fraction) const {
  const double place = inverted ? 1 - fraction : fraction;
  return scale == AxisScale::kLog ? min * std::pow(max / min, place)
                                  : min * (1 - place) + max * place;
}

double Frame::pixelX(double value) const {
  return bounded(area.left + x.fraction(orGap(value)) * area.width);
}

double Frame::pixelY(double value) const {
  return bounded(area.bottom() - y.fraction(orGap(value)) * area.height);
}

}  // namespace steptape::figure
