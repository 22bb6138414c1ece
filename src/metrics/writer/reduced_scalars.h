// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/metrics/distributed_writer.h"

#include "log/writer/deferred_scalars.h"
#include "metrics/reduce/metric_totals.h"

namespace steptape::detail::metrics {

/// Writes a metric's mean under its tag, and its statistics under `<tag>/min` and so on.
///
/// If there are many, the caller only passes the totals on, and the writer's thread divides them
/// and makes points.
///
/// Bound to the first writer that it is used with.
///
/// @threads Not thread-safe: one thread at a time.
class ReducedScalars {
 public:
  enum class Of {
    kJob,   ///< All statistics; reports metrics without a value on any rank.
    kRank,  ///< Only means.
  };

  explicit ReducedScalars(Of of) : of_(of) {}

  /// Sets how TensorBoard names and describes the metric. Must precede its first point.
  void describe(std::uint32_t tagId, const ReducedOptions& options);

  /// Writes all metrics of a step.
  void write(SummaryWriter& writer, std::shared_ptr<const MetricTotals> totals);

 private:
  static constexpr std::size_t kSeries = 6;  // the mean, and one per statistic with a single number
  struct Series {
    std::array<ScalarTag, kSeries> handles;  // by position in the table of statistics
    std::uint8_t known = 0;                  // bit i: handles[i] is set
  };
  /// A point that a step with this layout writes.
  struct Point {
    std::uint32_t place;
    std::uint32_t series;  // position in the table of statistics
    ScalarTag tag;
  };
  using Points = std::vector<Point>;

  std::shared_ptr<const Points> pointsOf(SummaryWriter& writer, const MetricLayout& layout);
  ScalarTag handleOf(SummaryWriter& writer, const Metric& metric, std::size_t series);
  ScalarOptions optionsOf(std::uint32_t tagId, std::size_t series) const;
  /// Puts the points into the ring directly, if that costs less than passing the totals on.
  ///
  /// @return whether it has.
  static bool addAtOnce(SummaryWriter& writer, const Points& points, const MetricTotals& totals);
  static void addPoints(const Points& points, const MetricTotals& totals, bool ownWallTimes,
                        log::DeferredScalars::Sink& sink);

  const Of of_;
  std::vector<Series> seriesByTag_;
  std::vector<ScalarOptions> optionsByTag_;  // as long as the last tag with options
  // Of the last step: valid while a program reduces the same metrics.
  std::shared_ptr<const MetricLayout> layout_;
  std::shared_ptr<const Points> points_;
};

}  // namespace steptape::detail::metrics
