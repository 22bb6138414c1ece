// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/comm/metric_moments.h"

#include "distributed/metric_layout.h"

namespace steptape::detail {

/// What a rank has queued for one step, each tag once. Each value goes straight to its place in the
/// messages of sums and of moments: where a step has the metrics of its layout, the messages are
/// complete when the last value has arrived.
///
/// Not thread-safe: one thread at a time.
class StepMetrics {
 public:
  explicit StepMetrics(std::shared_ptr<const MetricLayout> layout = MetricLayout::none());

  /// Merges `moments` into those of the metric's tag, or throws and has not.
  ///
  /// @return whether the tag is the step's first.
  bool add(QueuedMetric metric, const MetricMoments& moments, std::optional<double> wallTime);

  /// Whether it has the metrics of its layout, all of them and no others: then everything below
  /// that goes by place is valid.
  bool isLaidOut() const { return added_.empty() && notes_ == layout_->notes; }
  const std::shared_ptr<const MetricLayout>& layout() const { return layout_; }
  /// Its metrics, in any order.
  std::vector<QueuedMetric> metrics() const;
  std::size_t size() const { return size_; }
  /// The same at the places of another layout.
  StepMetrics laidOutAs(std::shared_ptr<const MetricLayout> layout) const;

  const MetricMoments& moments(std::size_t place) const {
    return moments_[MomentsMessage::at(place)];
  }
  const std::vector<double>& sums() const { return sums_; }
  /// By place; empty if no metric has a wall time of its own.
  const std::vector<std::optional<double>>& wallTimes() const { return wallTimes_; }

  // The messages, of `capacity` places and with `fingerprint` in front; metrics that do not fit are
  // left out. Valid until the step is changed.
  ArrayView<double> sumsMessage(double fingerprint, std::size_t capacity);
  ArrayView<MetricMoments> momentsMessage(double fingerprint, int rank, std::size_t capacity);

  /// Forgets what was queued and keeps the memory.
  void clear() noexcept;

 private:
  std::size_t placeOf(std::uint32_t tagId);
  QueuedMetric metricAt(std::size_t place) const;

  std::shared_ptr<const MetricLayout> layout_;
  std::vector<std::uint8_t> notes_;     // By place, as MetricLayout::notes; 0: not queued.
  std::vector<double> sums_;            // Zeros in unused places.
  std::vector<MetricMoments> moments_;  // Neutral in unused places.
  std::vector<std::optional<double>> wallTimes_;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> added_;  // Tags that the layout lacks; their places follow it.
  // By tag: its position in added_, right only if that position has the tag.
  std::vector<std::uint32_t> positionInAdded_;
};

}  // namespace steptape::detail
