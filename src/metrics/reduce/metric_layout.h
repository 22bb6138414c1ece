// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "metrics/reduce/fingerprint_parts.h"
#include "metrics/reduce/metric_schema.h"
#include "metrics/reduce/tag_table.h"

namespace steptape::detail::metrics {

/// A rank's data for one metric at one step, except its numbers.
struct QueuedMetric {
  std::uint32_t tagId;
  std::uint8_t statistics;  ///< Bits of MetricStatistic.
};

/// The metrics of a step with their places in the message, in ascending order by tag, so that ranks
/// may queue them in any order.
///
/// A new layout is made only if a program reduces other metrics than at the previous step.
/// Immutable: steps with these metrics and the writer's thread share it.
struct MetricLayout {
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  /// A bit of a note in addition to the bits of MetricStatistic: the metric was queued.
  static constexpr std::uint8_t kQueued = 128;

  /// Returns the layout without metrics.
  static const std::shared_ptr<const MetricLayout>& none();
  static std::shared_ptr<const MetricLayout> of(const std::vector<QueuedMetric>& queued,
                                                const TagTable& tags);

  /// Returns whether it has exactly these metrics with these statistics.
  bool isOf(const std::vector<QueuedMetric>& queued) const;
  std::size_t size() const { return metrics.size(); }
  std::uint32_t placeOf(std::uint32_t tagId) const {
    return tagId < placeByTag.size() ? placeByTag[tagId] : kNowhere;
  }

  std::vector<Metric> metrics;            ///< By place.
  std::vector<std::uint32_t> placeByTag;  ///< By number of the tag; may be kNowhere.
  std::vector<std::uint8_t> notes;        ///< By place: kQueued and the statistics.
  MetricFingerprint fingerprint;
  bool needsMoments = false;
  bool needsRankValues = false;
};

/// Positions in the message of sums: the fingerprint, then weight and weighted sum of each metric,
/// then unused places up to the capacity.
struct SumsMessage {
  static constexpr std::size_t at(std::size_t place) {
    return FingerprintParts::kDoubles + 2 * place;
  }
  static constexpr std::size_t size(std::size_t capacity) { return at(capacity - 1); }
};

/// Positions in the message of moments: the fingerprint, which is a MetricMoments itself, then one
/// per metric.
struct MomentsMessage {
  static constexpr std::size_t at(std::size_t place) { return place + 1; }
  static constexpr std::size_t size(std::size_t capacity) { return capacity; }
};

}  // namespace steptape::detail::metrics
