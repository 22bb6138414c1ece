// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "steptape/ranks/collective.h"

#include "base/mutex.h"
#include "metrics/reduce/metric_layout.h"

namespace steptape::detail::metrics {

/// The metrics of a step after the allreduce, for the writer's thread.
struct MetricTotals {
  std::shared_ptr<const MetricLayout> layout;
  std::int64_t step = 0;
  bool hasMoments = false;             ///< Else sums: only weight and weighted sum are known.
  std::vector<double> sums;            ///< In the form of SumsMessage; may be longer.
  std::vector<MetricMoments> moments;  ///< In the form of MomentsMessage; may be longer.
  /// By place; empty if no metric has an explicit wall time.
  std::vector<std::optional<double>> wallTimes;

  MetricMoments at(std::size_t place) const {
    if (hasMoments) {
      return moments[MomentsMessage::at(place)];
    }
    MetricMoments result;
    result.weight = sums[SumsMessage::at(place)];
    result.weightedSum = sums[SumsMessage::at(place) + 1];
    return result;
  }
  bool hasValue(std::size_t place) const { return at(place).weight > 0; }
  std::optional<double> wallTime(std::size_t place) const {
    return wallTimes.empty() ? std::nullopt : wallTimes[place];
  }
  /// Returns the memory in bytes.
  std::size_t bytes() const;
};

/// Lends MetricTotals, one for each step that the writer's thread has not processed, and takes them
/// back for reuse of their memory, on any thread.
///
/// @threads Thread-safe.
class MetricTotalsPool : public std::enable_shared_from_this<MetricTotalsPool> {
 public:
  MetricTotalsPool();

  /// Returns one with the memory and the content of an earlier step, or an empty one.
  std::shared_ptr<MetricTotals> take();

 private:
  // More than wait while the writer's thread keeps up; the memory of a longer queue is freed.
  static constexpr std::size_t kMaxSpare = 16;
  void giveBack(std::unique_ptr<MetricTotals> totals) noexcept;

  base::Mutex mutex_;
  std::vector<std::unique_ptr<MetricTotals>> spare_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::metrics
