// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/value_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/axis_numbers.h"
#include "tools/steptape/charts/tick_labels.h"
#include "tools/steptape/tables/human_text.h"

namespace steptape::tools {
namespace {

using detail::base::decades;
using detail::base::kTickTolerance;
using detail::base::niceStep;

/// An axis is extended to a round number that is at most this share of its length away.
constexpr double kReach = 0.1;

/// Like niceStep(), for seconds, minutes, hours and days.
double roundSeconds(double step) {
  constexpr std::array<double, 20> kSteps{1,
                                          2,
                                          5,
                                          10,
                                          15,
                                          30,
                                          60,
                                          120,
                                          300,
                                          600,
                                          900,
                                          1800,
                                          3600,
                                          7200,
                                          10800,
                                          21600,
                                          43200,
                                          kDaySeconds,
                                          2 * kDaySeconds,
                                          7 * kDaySeconds};
  if (step <= kSteps.front()) {
    return niceStep(step);
  }
  const auto* found = std::lower_bound(kSteps.begin(), kSteps.end(), step * (1 - kTickTolerance));
  return found != kSteps.end() ? *found : niceStep(step / kDaySeconds) * kDaySeconds;
}

double tickStep(AxisKind kind, double least) {
  switch (kind) {
    case AxisKind::kSteps:
      return niceStep(std::max(least, 1.0));
    case AxisKind::kDurations:
    case AxisKind::kWallTimes:
      return roundSeconds(least);
    default:
      return niceStep(least);
  }
}

/// Returns the offset of local time from UTC, so that ticks are at full hours and midnights.
double secondsAheadOfUtc(double wallTime) {
  return static_cast<double>(localTime(wallTime).tm_gmtoff);
}

std::vector<std::string> labelsFor(AxisKind kind, const std::vector<double>& values) {
  switch (kind) {
    case AxisKind::kDurations:
      return durationLabels(values);
    case AxisKind::kWallTimes:
      return wallTimeLabels(values);
    default:
      return numberLabels(values);
  }
}

/// Returns how far to move the limits apart if they are equal or nearly equal.
double marginAround(AxisKind kind, double value) {
  switch (kind) {
    case AxisKind::kSteps:
    case AxisKind::kDurations:
      return std::max(1.0, std::abs(value) * 1e-9);  // As doubles, 2^60 + 1 equals 2^60.
    case AxisKind::kWallTimes:
      return 60;
    default:
      return std::abs(value) < 1e-300 ? 1 : std::abs(value) / 10;
  }
}

/// REQUIRES: at most a few thousand of them, with quotients that doubles count exactly.
std::vector<double> multiplesWithin(double step, double offset, double min, double max) {
  const double first = std::ceil((min + offset) / step - kTickTolerance);
  const double last = std::floor((max + offset) / step + kTickTolerance);
  std::vector<double> multiples;
  // Multiplies the step instead of adding it up, so that errors do not accumulate.
  const auto count = static_cast<int>(last - first) + 1;
  multiples.reserve(static_cast<std::size_t>(std::max(count, 0)));
  for (int i = 0; i < count; ++i) {
    multiples.push_back((first + i) * step - offset);
  }
  return multiples;
}

}  // namespace

Axis::Axis(AxisKind kind, double min, double max, int mostTicks)
    : kind_(kind), min_(min), max_(max) {
  const double largest = std::max(std::abs(min), std::abs(max));
  // Closer than that, the limits differ by rounding errors, or divisions by their distance fail.
  const double closest = std::max(1e-12 * largest, 1e-300);
  if (max / 2 - min / 2 <= closest / 2) {
    spread();
  }
  if (kind == AxisKind::kLogarithmic) {
    coverLogarithmic(mostTicks);
  } else {
    coverLinear(mostTicks);
  }
}

void Axis::spread() {
  using Limits = std::numeric_limits<double>;
  if (kind_ == AxisKind::kLogarithmic) {
    min_ = std::max(min_ / 2, Limits::denorm_min());
    max_ = std::min(max_ * 2, Limits::max());
    return;
  }
  const double margin = marginAround(kind_, min_);
  min_ = std::max(min_ - margin, Limits::lowest());
  max_ = std::min(max_ + margin, Limits::max());
}

double Axis::positionOf(double value) const {
  if (kind_ == AxisKind::kLogarithmic) {
    return (std::log10(value) - std::log10(min_)) / (std::log10(max_) - std::log10(min_));
  }
  // Halved, because the difference of two doubles may overflow.
  return (value / 2 - min_ / 2) / (max_ / 2 - min_ / 2);
}

void Axis::coverLinear(int mostTicks) {
  const double halfRange = max_ / 2 - min_ / 2;
  const double offset = kind_ == AxisKind::kWallTimes ? secondsAheadOfUtc(min_) : 0;
  double step = tickStep(kind_, halfRange / (mostTicks + 1) * 2);
  while (multiplesWithin(step, offset, min_, max_).size() > static_cast<std::size_t>(mostTicks)) {
    step = tickStep(kind_, step * 1.5);
  }
  const double below = std::floor((min_ + offset) / step + kTickTolerance) * step - offset;
  const double above = std::ceil((max_ + offset) / step - kTickTolerance) * step - offset;
  if (min_ - below <= 2 * kReach * halfRange) {
    min_ = below;
  }
  if (above - max_ <= 2 * kReach * halfRange) {
    max_ = above;
  }
  const std::vector<double> values = multiplesWithin(step, offset, min_, max_);
  const std::vector<std::string> labels = labelsFor(kind_, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ticks_.push_back({values[i], labels[i]});
  }
}

void Axis::coverLogarithmic(int mostTicks) {
  const double reach = kReach * (std::log10(max_) - std::log10(min_));
  const double below = std::floor(std::log10(min_) + kTickTolerance);
  const double above = std::ceil(std::log10(max_) - kTickTolerance);
  if (std::log10(min_) - below <= reach && std::pow(10, below) > 0) {
    min_ = std::pow(10, below);
  }
  if (above - std::log10(max_) <= reach && std::isfinite(std::pow(10, above))) {
    max_ = std::pow(10, above);
  }
  std::vector<double> values = decades(min_, max_, {1, 2, 5}, 1);
  for (int every = 1; values.size() > static_cast<std::size_t>(mostTicks); ++every) {
    values = decades(min_, max_, {1}, every);
  }
  for (const double value : values) {
    ticks_.push_back({value, numberLabel(value)});
  }
  if (ticks_.size() > 2) {
    return;
  }
  // Within one decade the axis is nearly linear: round numbers are more useful than powers.
  ticks_.clear();
  const Axis linear(AxisKind::kNumbers, min_, max_, mostTicks);
  for (const Tick& tick : linear.ticks()) {
    if (tick.value >= min_ && tick.value <= max_) {
      ticks_.push_back(tick);
    }
  }
}

}  // namespace steptape::tools
