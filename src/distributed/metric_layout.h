// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distributed/fingerprint_parts.h"
#include "distributed/metric_schema.h"
#include "distributed/tag_table.h"

namespace steptape::detail {

/// What a rank has for one metric at one step, but for its numbers.
struct QueuedMetric {
  std::uint32_t tagId;
  std::uint8_t statistics;  ///< Bits of Statistic.
};

/// The metrics of a step and the place of each in the message: ascending by tag, so that ranks
/// which queue them in different orders mean the same.
///
/// Made anew only where a program reduces other metrics than at the step before. Never changes:
/// shared by the steps that have these metrics, and by the writer's thread.
struct MetricLayout {
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  /// In a note beside the bits of Statistic: the metric was queued.
  static constexpr std::uint8_t kQueued = 128;

  /// The layout of no metrics.
  static const std::shared_ptr<const MetricLayout>& none();
  static std::shared_ptr<const MetricLayout> of(const std::vector<QueuedMetric>& queued,
                                                const TagTable& tags);

  /// Whether it is one of these metrics and no others, with these statistics.
  bool isOf(const std::vector<QueuedMetric>& queued) const;
  std::size_t size() const { return metrics.size(); }
  std::uint32_t placeOf(std::uint32_t tagId) const {
    return tagId < placeByTag.size() ? placeByTag[tagId] : kNowhere;
  }

  std::vector<Metric> metrics;            ///< By place.
  std::vector<std::uint32_t> placeByTag;  ///< By number of the tag; kNowhere.
  std::vector<std::uint8_t> notes;        ///< By place: kQueued and the statistics.
  MetricFingerprint fingerprint;
  bool needsMoments = false;
  bool needsRankValues = false;
};

/// Where metrics lie in the message of sums: after the fingerprint, weight and weighted sum of
/// each, then unused places up to the capacity.
struct SumsMessage {
  static constexpr std::size_t at(std::size_t place) {
    return FingerprintParts::kDoubles + 2 * place;
  }
  static constexpr std::size_t size(std::size_t capacity) { return at(capacity - 1); }
};

/// Where they lie in the message of moments: after the fingerprint, which is one itself.
struct MomentsMessage {
  static constexpr std::size_t at(std::size_t place) { return place + 1; }
  static constexpr std::size_t size(std::size_t capacity) { return capacity; }
};

}  // namespace steptape::detail
