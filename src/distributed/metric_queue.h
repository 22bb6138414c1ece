// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "steptape/comm/metric_moments.h"

#include "distributed/step_metrics.h"

namespace steptape::detail {

/// Keeps what addReduced() was given until reduce() takes it, by step.
///
/// Bounded: a program that queues and never reduces gets an error instead of filling the memory.
class MetricQueue {
 public:
  static constexpr std::size_t kMaxMetrics = std::size_t{1} << 17;

  /// @throws Error(kFailedPrecondition) if kMaxMetrics wait already.
  void add(std::int64_t step, QueuedMetric metric, const MetricMoments& moments,
           std::optional<double> wallTime);
  /// Takes what waits for `step`, which may be nothing.
  StepMetrics take(std::int64_t step);
  /// Gives a step back, for the memory; it serves the next step if that may have the same metrics.
  void recycle(StepMetrics step);
  void clear();
  /// Metrics that wait, over all steps.
  std::size_t size() const { return size_; }

 private:
  using MetricsByStep = std::map<std::int64_t, StepMetrics>;
  MetricsByStep::iterator insert(std::int64_t step);

  MetricsByStep metricsByStep_;
  // Of steps that have been taken, for the next one: so that a step allocates nothing.
  MetricsByStep::node_type spareNode_;
  std::optional<StepMetrics> spare_;
  std::size_t size_ = 0;
};

}  // namespace steptape::detail
