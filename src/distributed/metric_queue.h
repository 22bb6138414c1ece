// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "steptape/distributed/metric_moments.h"

namespace steptape::detail {

/// Numbers the tags of one writer from 0, in the order in which they were first seen.
class TagTable {
 public:
  std::uint32_t idOf(std::string_view tag);
  const std::string& nameOf(std::uint32_t id) const { return names_[id]; }

 private:
  std::deque<std::string> names_;  // A deque never moves its strings: the map's keys point to them.
  std::unordered_map<std::string_view, std::uint32_t> idByName_;
};

/// What a rank has for one metric at one step.
struct QueuedMetric {
  std::uint32_t tagId;
  std::uint8_t statistics;  ///< Bits of Statistic.
  std::optional<double> wallTime;
  MetricMoments moments;
};

/// The metrics of one step, each tag once.
class StepMetrics {
 public:
  /// Merges `metric` into the one with its tag, or appends it. @return true if appended.
  bool add(const QueuedMetric& metric);
  const std::vector<QueuedMetric>& metrics() const { return metrics_; }
  /// Forgets the metrics and keeps the memory.
  void clear();

 private:
  std::vector<QueuedMetric> metrics_;
  std::vector<std::int32_t> positionByTag_;  // -1: not in this step.
};

/// Keeps what addReduced() was given until reduce() takes it, by step.
///
/// Bounded: a program that queues and never reduces is told so instead of filling the memory.
class MetricQueue {
 public:
  static constexpr std::size_t kMaxMetrics = std::size_t{1} << 17;

  /// @throws Error(kFailedPrecondition) if kMaxMetrics wait already.
  void add(std::int64_t step, const QueuedMetric& metric);
  /// Takes what waits for `step`, which may be nothing.
  StepMetrics take(std::int64_t step);
  /// Gives back what take() returned, for its memory.
  void recycle(StepMetrics step);
  void clear();
  /// Metrics that wait, over all steps.
  std::size_t size() const { return size_; }

 private:
  std::map<std::int64_t, StepMetrics> metricsByStep_;
  StepMetrics spare_;
  std::size_t size_ = 0;
};

}  // namespace steptape::detail
