// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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

  /// Adds the mean to `batch`, if nothing else of the metric is written and its series is known.
  ///
  /// @return false if add() must do it.
  bool addMean(StepBatch& batch, std::uint32_t tagId, double mean) const {
    if (tagId >= seriesByTag_.size() || (seriesByTag_[tagId].known & 1U) == 0) {
      return false;
    }
    batch.add(seriesByTag_[tagId].handles[0], mean);
    return true;
  }

  /// Adds the mean and what else of the statistics follows from the moments to `batch`, or writes
  /// it at once if the metric has a wall time of its own.
  ///
  /// @param batch Made by `writer` for `step`.
  void add(SummaryWriter& writer, StepBatch& batch, std::int64_t step, const std::string& tag,
           const QueuedMetric& metric, const MetricMoments& moments,
           std::optional<double> wallTime);

 private:
  static constexpr std::size_t kSeries = 6;  // Mean, and one per statistic of a single number.
  struct Series {
    std::array<ScalarTag, kSeries> handles;  // By position in the table of statistics.
    std::uint8_t known = 0;                  // Bit i: handles[i] is made.
  };
  Series& seriesOf(std::uint32_t tagId);
  ScalarOptions optionsOf(std::uint32_t tagId, std::size_t series) const;

  std::vector<Series> seriesByTag_;
  std::vector<ScalarOptions> optionsByTag_;  // As long as the last tag that has any.
};

}  // namespace steptape::detail
