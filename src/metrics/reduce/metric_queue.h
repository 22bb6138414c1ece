// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "steptape/ranks/collective.h"

#include "metrics/reduce/step_metrics.h"

namespace steptape::detail::metrics {

/// Keeps the arguments of addReduced() by step, until reduce() takes them.
///
/// Bounded: a program that queues and never reduces gets an error instead of running out of memory.
class MetricQueue {
 public:
  static constexpr std::size_t kMaxMetrics = std::size_t{1} << 17;

  /// @throws Error(kFailedPrecondition) if kMaxMetrics are already waiting.
  void add(std::int64_t step, QueuedMetric metric, const MetricMoments& moments,
           std::optional<double> wallTime);
  /// Takes the metrics that wait for `step`; there may be none.
  StepMetrics take(std::int64_t step);
  /// Returns a step's memory, which the next step uses if it may have the same metrics.
  void recycle(StepMetrics step);
  void clear();
  /// Returns the number of waiting metrics over all steps.
  std::size_t size() const { return size_; }

 private:
  using MetricsByStep = std::map<std::int64_t, StepMetrics>;
  MetricsByStep::iterator insert(std::int64_t step);

  MetricsByStep metricsByStep_;
  // Memory of steps that have been taken, so that the next step allocates nothing.
  MetricsByStep::node_type spareNode_;
  std::optional<StepMetrics> spare_;
  std::size_t size_ = 0;
};

}  // namespace steptape::detail::metrics
