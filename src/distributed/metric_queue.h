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

/// What a rank has for one metric at one step, but for its numbers.
struct QueuedMetric {
  std::uint32_t tagId;
  std::uint8_t statistics;  ///< Bits of Statistic.
};

/// The metrics of one step, each tag once. In columns, so that looking whether the metrics are
/// those of the step before, and collecting their sums, touches little memory.
class StepMetrics {
 public:
  /// Merges `metric` into the one with its tag, or appends it. @return true if appended.
  bool add(QueuedMetric metric, const MetricMoments& moments, std::optional<double> wallTime);
  const std::vector<QueuedMetric>& metrics() const { return metrics_; }
  const MetricMoments& moments(std::size_t position) const { return moments_[position]; }
  std::optional<double> wallTime(std::size_t position) const {
    return hasWallTimes_ ? wallTimes_[position] : std::nullopt;
  }
  /// Whether wallTime() has a value for any of them.
  bool hasWallTimes() const { return hasWallTimes_; }
  /// Forgets the metrics and keeps the memory.
  void clear();

 private:
  std::vector<QueuedMetric> metrics_;
  std::vector<MetricMoments> moments_;
  std::vector<std::optional<double>> wallTimes_;
  bool hasWallTimes_ = false;
  // Where the tag was last put. Not reset by clear(): right only if that place has the tag.
  std::vector<std::uint32_t> positionByTag_;
};

/// Keeps what addReduced() was given until reduce() takes it, by step.
///
/// Bounded: a program that queues and never reduces is told so instead of filling the memory.
class MetricQueue {
 public:
  static constexpr std::size_t kMaxMetrics = std::size_t{1} << 17;

  /// @throws Error(kFailedPrecondition) if kMaxMetrics wait already.
  void add(std::int64_t step, QueuedMetric metric, const MetricMoments& moments,
           std::optional<double> wallTime);
  /// Takes what waits for `step`, which may be nothing.
  StepMetrics take(std::int64_t step);
  /// Gives back what take() returned, for its memory.
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
  StepMetrics spare_;
  std::size_t size_ = 0;
};

}  // namespace steptape::detail
