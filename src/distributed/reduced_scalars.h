// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/writer/summary_writer.h"

#include "distributed/metric_reducer.h"

namespace steptape::detail {

/// Writes a metric's mean under its tag, and its statistics under `<tag>/min` and so on: remembers
/// the series of each tag, so that a step costs no look-up.
///
/// Bound to the first writer it is used with. Not thread-safe: one thread at a time.
class ReducedScalars {
 public:
  /// Sets how TensorBoard names and describes the metric. Counts before its first point.
  void describe(std::uint32_t tagId, const ReducedOptions& options);

  /// Adds a metric to the points of the step. Writes at once if `wallTime` is set.
  void add(SummaryWriter& writer, const std::string& tag, const QueuedMetric& metric,
           const MetricMoments& moments, std::int64_t step);

  /// Writes what was added, in one Event.
  void writeStep(SummaryWriter& writer, std::int64_t step);

 private:
  struct Series {
    ScalarOptions options;
    std::vector<ScalarTag> handles;  // By position in the table of statistics; made when needed.
    std::uint8_t known = 0;          // Bit i: handles[i] is made.
  };
  Series& seriesOf(std::uint32_t tagId);

  std::vector<Series> seriesByTag_;
  std::vector<std::pair<ScalarTag, double>> points_;
};

}  // namespace steptape::detail
