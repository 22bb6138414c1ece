// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <utility>

#include "steptape/log/aggregate.h"

#include "log/aggregate/statistics.h"

namespace steptape {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Point {
  std::int64_t step;
  double wallTime;
  double value;
};

/// Returns the points in ascending order by step; of several points at a step, the last one.
std::vector<Point> pointsByStep(const ScalarColumns& scalars) {
  std::vector<Point> points;
  points.reserve(scalars.size());
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    points.push_back({scalars.steps[i], scalars.wallTimes[i], scalars.values[i]});
  }
  const auto isBefore = [](const Point& a, const Point& b) { return a.step < b.step; };
  if (!std::is_sorted(points.begin(), points.end(), isBefore)) {
    std::stable_sort(points.begin(), points.end(), isBefore);
  }
  // With reverse iterators, unique() keeps the last point of each step.
  const auto kept = std::unique(
      points.rbegin(), points.rend(),
      [](const Point& later, const Point& earlier) { return later.step == earlier.step; });
  points.erase(points.begin(), kept.base());
  return points;
}

/// Iterates over the points of one run by step.
class Track {
 public:
  explicit Track(std::vector<Point> points) : points_(std::move(points)) {}

  /// Returns the next step.
  std::optional<std::int64_t> nextStep() const {
    return at_ < points_.size() ? std::optional(points_[at_].step) : std::nullopt;
  }

  /// Returns the point at `step`, and advances past it. REQUIRES: `step` is at most nextStep().
  std::optional<Point> pass(std::int64_t step, bool interpolate) {
    if (at_ < points_.size() && points_[at_].step == step) {
      return points_[at_++];
    }
    const bool isBetween = at_ > 0 && at_ < points_.size();
    return interpolate && isBetween ? std::optional(between(step)) : std::nullopt;
  }

 private:
  Point between(std::int64_t step) const {
    const Point& before = points_[at_ - 1];
    const Point& after = points_[at_];
    // The difference of two steps may need 64 unsigned bits.
    const auto distance = [](std::int64_t from, std::int64_t to) {
      return static_cast<double>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
    };
    const double part = distance(before.step, step) / distance(before.step, after.step);
    return {step, before.wallTime + part * (after.wallTime - before.wallTime),
            before.value + part * (after.value - before.value)};
  }

  std::vector<Point> points_;
  std::size_t at_ = 0;
};

std::optional<std::int64_t> nextStep(const std::vector<Track>& tracks) {
  std::optional<std::int64_t> next;
  for (const Track& track : tracks) {
    const std::optional<std::int64_t> step = track.nextStep();
    if (step && (!next || *step < *next)) {
      next = step;
    }
  }
  return next;
}

/// @param sorted Ascending, at least one.
double percentileOf(const std::vector<double>& sorted, double percentile) {
  const double position = percentile / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double part = position - static_cast<double>(below);
  // If `part` is 0, there may be no next value, and an infinity times 0 would be NaN.
  return part == 0 ? sorted[below] : sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double meanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double deviationOf(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : kNaN;
}

/// @param sorted Ascending, at least one.
double centerOf(const std::vector<double>& sorted, AggregateCenter center) {
  if (center == AggregateCenter::kMean) {
    return meanOf(sorted);
  }
  const auto cut = static_cast<std::ptrdiff_t>(sorted.size() / 4);
  return meanOf({sorted.begin() + cut, sorted.end() - cut});
}

/// Sets the confidence interval of the center.
/// @param sorted Ascending, at least one.
void setConfidence(const std::vector<double>& sorted, AggregateCenter center,
                   AggregatePoint* point) {
  constexpr std::size_t kSamples = 2000;
  constexpr double kTail = 2.5;  // percent on each side
  point->lower = kNaN;
  point->upper = kNaN;
  if (sorted.size() < 2 || std::isnan(sorted.front())) {
    return;
  }
  std::mt19937_64 random;  // the same numbers for each step
  std::vector<double> sample(sorted.size());
  std::vector<double> centers(kSamples);
  for (double& each : centers) {
    for (double& value : sample) {
      value = sorted[random() % sorted.size()];
    }
    std::sort(sample.begin(), sample.end());
    each = centerOf(sample, center);
  }
  std::sort(centers.begin(), centers.end());
  point->lower = percentileOf(centers, kTail);
  point->upper = percentileOf(centers, 100 - kTail);
}

/// @param values At least one; reordered.
AggregatePoint statisticsOf(std::vector<double>& values, const AggregateOptions& options) {
  AggregatePoint point;
  point.runs = values.size();
  point.mean = meanOf(values);
  point.std = deviationOf(values, point.mean);
  const bool hasNaN =
      std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  if (hasNaN) {
    values.assign(1, kNaN);
  }
  std::sort(values.begin(), values.end());
  point.min = values.front();
  point.max = values.back();
  // The mean of the values in the order of the runs: its last bits depend on it.
  point.center =
      options.center == AggregateCenter::kMean ? point.mean : centerOf(values, options.center);
  if (options.band == AggregateBand::kConfidence) {
    setConfidence(values, options.center, &point);
  }
  for (const double percentile : options.percentiles) {
    point.percentiles.push_back(percentileOf(values, percentile));
  }
  return point;
}

}  // namespace

AggregateSeries aggregateScalars(const std::vector<const ScalarColumns*>& runs,
                                 const AggregateOptions& options) {
  detail::log::checkPercentiles(options.percentiles);
  std::vector<Track> tracks;
  tracks.reserve(runs.size());
  for (const ScalarColumns* run : runs) {
    tracks.emplace_back(pointsByStep(*run));
  }
  AggregateSeries series;
  series.runs = runs.size();
  const std::size_t needed =
      options.minRuns > 0 ? static_cast<std::size_t>(options.minRuns) : runs.size();
  std::vector<double> values;
  std::vector<double> wallTimes;
  while (const std::optional<std::int64_t> step = nextStep(tracks)) {
    values.clear();
    wallTimes.clear();
    for (Track& track : tracks) {
      if (const std::optional<Point> point = track.pass(*step, options.interpolate)) {
        values.push_back(point->value);
        wallTimes.push_back(point->wallTime);
      }
    }
    if (values.size() < needed) {
      ++series.stepsLeftOut;
      continue;
    }
    series.points.push_back(statisticsOf(values, options));
    series.points.back().step = *step;
    series.points.back().wallTime = meanOf(wallTimes);
  }
  series.steps = series.points.size();
  return series;
}

}  // namespace steptape
