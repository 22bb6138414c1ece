// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/ranks/collective.h"

#include "metrics/reduce/metric_layout.h"

namespace steptape::detail::metrics {

/// The metrics that a rank has queued for one step, each tag once. Each value is written to its
/// place in the messages of sums and of moments: if a step has the metrics of its layout, the
/// messages are complete with the last value.
///
/// @threads Not thread-safe: one thread at a time.
class StepMetrics {
 public:
  explicit StepMetrics(std::shared_ptr<const MetricLayout> layout = MetricLayout::none());

  /// Merges `moments` into those of the metric's tag. If it throws, nothing has changed.
  ///
  /// @return whether the tag is new in this step.
  bool add(QueuedMetric metric, const MetricMoments& moments, std::optional<double> wallTime);

  /// Returns whether it has exactly the metrics of its layout. Only then, results by place are
  /// valid.
  bool isLaidOut() const { return added_.empty() && notes_ == layout_->notes; }
  const std::shared_ptr<const MetricLayout>& layout() const { return layout_; }
  /// Returns its metrics, in any order.
  std::vector<QueuedMetric> metrics() const;
  std::size_t size() const { return size_; }
  /// Returns the same metrics at the places of another layout.
  StepMetrics laidOutAs(std::shared_ptr<const MetricLayout> layout) const;

  const MetricMoments& moments(std::size_t place) const {
    return moments_[MomentsMessage::at(place)];
  }
  const std::vector<double>& sums() const { return sums_; }
  /// By place; empty if no metric has an explicit wall time.
  const std::vector<std::optional<double>>& wallTimes() const { return wallTimes_; }

  // Return messages of `capacity` places that start with `fingerprint`; metrics that do not fit are
  // omitted. Valid until the step is changed.
  ArrayView<double> sumsMessage(double fingerprint, std::size_t capacity);
  ArrayView<MetricMoments> momentsMessage(double fingerprint, int rank, std::size_t capacity);

  /// Removes the metrics and keeps the memory.
  void clear() noexcept;

 private:
  std::size_t placeOf(std::uint32_t tagId);
  QueuedMetric metricAt(std::size_t place) const;

  std::shared_ptr<const MetricLayout> layout_;
  std::vector<std::uint8_t> notes_;     // by place, as MetricLayout::notes; 0: not queued
  std::vector<double> sums_;            // zeros in unused places
  std::vector<MetricMoments> moments_;  // neutral in unused places
  std::vector<std::optional<double>> wallTimes_;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> added_;  // tags that the layout lacks; their places follow its own
  // By tag: its position in added_, valid only if that position has the tag.
  std::vector<std::uint32_t> positionInAdded_;
};

}  // namespace steptape::detail::metrics
