// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/distributed/communicator.h"
#include "steptape/distributed/metric_moments.h"
#include "steptape/distributed/reduced_options.h"

#include "distributed/metric_queue.h"
#include "distributed/metric_schema.h"

namespace steptape::detail {

/// One metric of a step after the reduction.
struct ReducedMetric {
  QueuedMetric own;     ///< What this rank had given.
  MetricMoments total;  ///< What all ranks had given; the same on every rank.
};

/// Combines the metrics of a step over all ranks in one allreduce, and finds out in the same
/// allreduce whether the ranks agree on what they reduce.
///
/// What travels begins with the fingerprint of the rank's schema (tags, statistics, step), in a
/// form from which every rank sees whether all had the same. It has one of two formats:
///
///     sums     fingerprint in 8 doubles | weight, weight * value | ... | unused    added by
///     MPI_SUM moments  fingerprint as a metric  | MetricMoments          | ... | unused    merged
///
/// Sums are a third of the bytes and need no call per element; moments are needed as soon as a
/// metric has statistics. Format and capacity change only after an agreement, so they are the same
/// on all ranks even when their numbers of metrics differ: the ranks always meet in the same
/// allreduce, and nobody hangs.
///
/// In steady state that is the only collective. Where the schema does not fit, all ranks know it
/// from their own equal schemas, change the format or the capacity alike and try again. Where the
/// fingerprints differ, an allgather of the schemas lets every rank throw the same Error.
///
/// Not thread-safe: one thread at a time.
class MetricReducer {
 public:
  explicit MetricReducer(std::shared_ptr<Communicator> communicator);

  /// @throws Error(kInvalidArgument) if `tag` is empty or the weight is negative or not finite.
  void add(std::string_view tag, double value, std::int64_t step, const ReducedOptions& options);

  /// Combines what was added for `step`. Collective.
  ///
  /// @return the metrics, ascending by tag; valid until the next call.
  /// @throws Error(kRankMismatch) on every rank, see above; then nothing is queued any more.
  const std::vector<ReducedMetric>& reduce(std::int64_t step);

  const std::string& nameOf(std::uint32_t tagId) const { return tags_.nameOf(tagId); }
  std::uint32_t idOf(std::string_view tag) { return tags_.idOf(tag); }

  /// Metrics that were added and not reduced.
  std::size_t pendingCount() const { return queue_.size(); }

 private:
  static constexpr std::size_t kInitialCapacity = 16;

  void sortByTag(const std::vector<QueuedMetric>& metrics);
  bool isSortedAlready(const std::vector<QueuedMetric>& metrics) const;
  /// Each combines what fits and returns whether all ranks have this fingerprint.
  bool allreduce(double fingerprint);
  bool allreduceSums(double fingerprint);
  bool allreduceMoments(double fingerprint);
  /// Makes room for the schema, on which all ranks agree. @return false if it fitted already.
  bool grow();
  std::size_t fittingCount() const { return std::min(reduced_.size(), capacity_ - 1); }
  [[noreturn]] void throwMismatch(std::int64_t step);

  std::shared_ptr<Communicator> communicator_;
  TagTable tags_;
  MetricQueue queue_;
  std::size_t capacity_ = kInitialCapacity;  // Metrics that fit, and one for the fingerprint.
  bool sendsMoments_ = false;                // Else sums.

  // Order and hash of the last schema: while a program reduces the same metrics, and queues them in
  // the same order, they hold.
  struct SchemaEntry {
    std::uint32_t tagId;
    std::uint8_t statistics;
  };
  std::vector<SchemaEntry> schema_;         // As queued.
  std::vector<std::uint32_t> sortedOrder_;  // Positions in schema_, ascending by tag.
  MetricFingerprint fingerprint_;
  bool hasStatistics_ = false;

  std::vector<double> sums_;
  std::vector<MetricMoments> moments_;
  std::vector<ReducedMetric> reduced_;
};

}  // namespace steptape::detail
