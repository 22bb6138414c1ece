// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/distributed/communicator.h"
#include "steptape/distributed/metric_moments.h"
#include "steptape/distributed/reduced_options.h"

#include "distributed/fingerprint_parts.h"
#include "distributed/metric_queue.h"
#include "distributed/metric_schema.h"
#include "distributed/rank_values.h"

namespace steptape::detail {

/// Combines the metrics of a step over all ranks in one allreduce, and finds out in the same
/// allreduce whether the ranks agree on what they reduce.
///
/// What travels begins with the fingerprint of the rank's schema (tags, statistics, step), in a
/// form from which every rank sees whether all had the same. It has one of two formats:
///
///     sums     fingerprint in 8 doubles | weight, weight * value | ... | unused    added up
///     moments  fingerprint as a metric  | MetricMoments          | ... | unused    merged
///
/// Sums are a third of the bytes and need no call per element; moments are needed as soon as a
/// metric has a minimum, say. Format and capacity change only after an agreement, so they are the
/// same on all ranks even when their numbers of metrics differ: the ranks always meet in the same
/// allreduce, and nobody hangs. For the same reason the communicator need not compare the ranks.
///
/// In steady state that is the only collective. Where the schema does not fit, all ranks know it
/// from their own equal schemas, change the format or the capacity alike and try again. Where the
/// fingerprints differ, an allgather of the schemas lets every rank throw the same Error.
///
/// Metrics with kRankValues also travel in an allgather, started beside the allreduce if the step
/// before had such metrics, and after the agreement if not.
///
/// Not thread-safe: one thread at a time.
class MetricReducer {
 public:
  explicit MetricReducer(std::shared_ptr<Communicator> communicator);

  /// @return the tag's number.
  /// @throws Error(kInvalidArgument) if `tag` is empty, the weight is negative or not finite, or a
  ///         percentile is not from 0 to 100.
  std::uint32_t add(std::string_view tag, double value, std::int64_t step,
                    const ReducedOptions& options);

  /// Begins to combine what was added for `step`. Collective; waits for other ranks only where the
  /// schema does not fit. REQUIRES: nothing is under way. Ends the life of the last results.
  void start(std::int64_t step);
  /// Whether start() was called, and what it began can still be finished.
  bool isUnderWay() const { return isUnderWay_; }
  /// Waits for what is under way. Not a collective: all ranks have started it or will.
  ///
  /// @return whether the ranks agree; if not, finish() tells how they differ.
  bool wait();
  /// Waits for what is under way, whose results then stand below. Collective.
  ///
  /// @throws Error(kRankMismatch) on every rank, see above; then nothing is queued any more.
  void finish();

  // The results of the last finish(), metrics ascending by tag.
  std::int64_t step() const { return step_; }
  std::size_t size() const { return taken_.metrics().size(); }
  const QueuedMetric& metric(std::size_t at) const { return taken_.metrics()[sortedOrder_[at]]; }
  /// What this rank had given.
  const MetricMoments& own(std::size_t at) const { return taken_.moments(sortedOrder_[at]); }
  bool hasWallTimes() const { return taken_.hasWallTimes(); }
  std::optional<double> wallTime(std::size_t at) const { return taken_.wallTime(sortedOrder_[at]); }
  /// What all ranks had given; the same on every rank. Of sums, only weight and weighted sum.
  MetricMoments total(std::size_t at) const;
  double totalWeight(std::size_t at) const {
    return sendsMoments_ ? moments_[at + 1].weight : sums_[sumsAt(at)];
  }
  double totalWeightedSum(std::size_t at) const {
    return sendsMoments_ ? moments_[at + 1].weightedSum : sums_[sumsAt(at) + 1];
  }
  /// Sets `values` to those of all ranks. `at` counts the metrics with kRankValues only.
  void rankValues(std::size_t at, std::vector<RankValue>& values) const {
    rankValuesAt(valuesByRank_, at, values);
  }

  const std::string& nameOf(std::uint32_t tagId) const { return tags_.nameOf(tagId); }

  /// Metrics that were added and not given to start().
  std::size_t pendingCount() const { return queue_.size(); }

 private:
  static constexpr std::size_t kInitialCapacity = 16;
  static constexpr std::size_t sumsAt(std::size_t at) {
    return FingerprintParts::kDoubles + 2 * at;
  }

  void sortByTag(const std::vector<QueuedMetric>& metrics);
  bool isSortedAlready(const std::vector<QueuedMetric>& metrics) const;
  void postAllreduce();
  void postSums();
  void postMoments();
  void postRankValues();
  /// Whether the allreduce, which has ended, brought this rank's fingerprint from all ranks.
  bool agrees() const;
  bool fits() const { return size() < capacity_ && (sendsMoments_ || !needsMoments_); }
  /// Makes room for the schema, on which all ranks agree.
  void grow();
  std::size_t fittingCount() const { return std::min(size(), capacity_ - 1); }
  [[noreturn]] void throwMismatch();

  std::shared_ptr<Communicator> communicator_;
  const CollectiveOptions collectiveOptions_;
  TagTable tags_;
  MetricQueue queue_;
  std::size_t capacity_ = kInitialCapacity;  // Metrics that fit, and one for the fingerprint.
  bool sendsMoments_ = false;                // Else sums.
  bool sendsRankValues_ = false;             // At once, beside the allreduce.

  // Order and hash of the last schema: while a program reduces the same metrics, and queues them in
  // the same order, they hold.
  std::vector<QueuedMetric> schema_;        // As queued.
  std::vector<std::uint32_t> sortedOrder_;  // Positions in schema_, ascending by tag.
  MetricFingerprint schemaFingerprint_;
  bool needsMoments_ = false;
  bool needsRankValues_ = false;

  // The step that is under way, or was last.
  bool isUnderWay_ = false;
  std::int64_t step_ = 0;
  double fingerprint_ = 0;
  StepMetrics taken_;
  std::vector<double> sums_;
  std::vector<MetricMoments> moments_;
  std::string ownValues_;
  std::vector<std::string> valuesByRank_;

  // Last: their ends wait, while the memory above is still theirs.
  CollectiveHandle allreduce_;
  CollectiveHandle allgather_;
};

}  // namespace steptape::detail
