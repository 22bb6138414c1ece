// SPDX-License-Identifier: Apache-2.0
#pragma once

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
///     slot     0                1        2              capacity - 1
///            [ fingerprint    | metric | metric | ... | unused ]
///
/// Slot 0 has the hash of the rank's schema (tags, statistics, step) as its value: its minimum is
/// its maximum if and only if all ranks have the same schema. All ranks use the same capacity, even
/// when their numbers of metrics differ, because it changes only after an agreement; so they always
/// meet in an allreduce of the same size, and nobody hangs.
///
/// In steady state that is the only collective. Where the schema does not fit, all ranks know it
/// from their own equal schemas, double the capacity and try again. Where the hashes differ, an
/// allgather of the schemas lets every rank throw the same Error.
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
  void allreduceSlots(double fingerprint);
  bool ranksAgree() const { return slots_.front().min == slots_.front().max; }
  [[noreturn]] void throwMismatch(std::int64_t step);

  std::shared_ptr<Communicator> communicator_;
  TagTable tags_;
  MetricQueue queue_;
  std::size_t capacity_ = kInitialCapacity;

  // Order and hash of the last schema: while a program reduces the same metrics, and queues them in
  // the same order, they hold.
  struct SchemaEntry {
    std::uint32_t tagId;
    std::uint8_t statistics;
  };
  std::vector<SchemaEntry> schema_;         // As queued.
  std::vector<std::uint32_t> sortedOrder_;  // Positions in schema_, ascending by tag.
  MetricFingerprint fingerprint_;

  std::vector<MetricMoments> slots_;
  std::vector<ReducedMetric> reduced_;
};

}  // namespace steptape::detail
