// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/comm/communicator.h"
#include "steptape/comm/metric_moments.h"
#include "steptape/distributed/distributed_writer_options.h"

#include "distributed/metric_layout.h"
#include "distributed/metric_queue.h"
#include "distributed/metric_totals.h"
#include "distributed/rank_values.h"
#include "distributed/tag_table.h"

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
/// allreduce, and no rank hangs. For the same reason the communicator need not compare the ranks.
///
/// In steady state that is the only collective, and start() only looks whether the metrics are
/// those of the step before: add() has put the message together. Where the schema does not fit, all
/// ranks know it from their own equal schemas, change the format or the capacity alike and try
/// again. Where the fingerprints differ, an allgather of the schemas lets every rank throw the same
/// Error.
///
/// Metrics with kRankValues also travel in an allgather, started beside the allreduce if the step
/// before had such metrics, and after the agreement if not.
///
/// Not thread-safe: one thread at a time.
class MetricReducer {
 public:
  explicit MetricReducer(std::shared_ptr<Communicator> communicator);

  /// The number of a metric's tag.
  ///
  /// @throws Error(kInvalidArgument) if `tag` is empty, the weight is negative or not finite, the
  ///         wall time is not finite, or a percentile is not from 0 to 100.
  std::uint32_t idOf(std::string_view tag, const ReducedOptions& options);
  void add(std::uint32_t tagId, double value, std::int64_t step, const ReducedOptions& options);

  /// Begins to combine what was added for `step`. Collective; waits for other ranks only where the
  /// schema does not fit. REQUIRES: nothing is under way. Ends the life of the last results.
  ///
  /// @throws std::bad_alloc where memory is short: the step is under way all the same, and wait()
  ///         and finish() continue where it stopped, so that no rank waits for this one in vain.
  void start(std::int64_t step);
  /// Whether start() was called, and what it began can still be finished.
  bool isUnderWay() const { return isUnderWay_; }
  /// Waits for what is under way. Not a collective: all ranks have started it or will.
  ///
  /// @return whether the ranks agree; if not, finish() reports how they differ.
  bool wait();
  /// Waits for what is under way, whose results then stand below. Collective.
  ///
  /// @throws Error(kRankMismatch) on every rank, see above; then nothing is queued any more.
  void finish();

  /// The step that start() was called for last.
  std::int64_t step() const { return step_; }
  /// What all ranks had at the step of the last finish(): the same on every rank.
  std::shared_ptr<const MetricTotals> totals() const { return totals_; }
  /// What this rank had given: its own sums, in a copy.
  std::shared_ptr<const MetricTotals> ownSums();
  /// Sets `values` to those of all ranks. `at` counts the metrics with kRankValues only.
  void rankValues(std::size_t at, std::vector<RankValue>& values) const {
    rankValuesAt(valuesByRank_, at, values);
  }

  const std::string& nameOf(std::uint32_t tagId) const { return tags_.nameOf(tagId); }

  /// Metrics of the step that is under way.
  std::size_t metricsUnderWay() const { return isUnderWay_ ? taken_.size() : 0; }
  /// Metrics that were added and not given to start().
  std::size_t pendingCount() const { return queue_.size(); }

 private:
  static constexpr std::size_t kInitialCapacity = 16;

  /// What comes next for the step that is under way.
  enum class Stage : std::uint8_t {
    kLayOut,
    kAllreduce,
    kRankValues,
    kLookWhetherItFits,  ///< The first step of a schema only, as the next two.
    kAllreduceAgain,
    kRankValuesAfterwards,
    kWait,
  };
  /// Goes on until only the ends of the collectives are to be waited for.
  void advance();
  /// Where it throws std::bad_alloc, it can be repeated. @return the next stage.
  Stage pass(Stage stage);
  /// Brings what was taken into the order in which it travels.
  void layOut();
  /// Waits for what was started. @return whether the ranks agree.
  bool compare();
  void postAllreduce();
  void postRankValues();
  /// Whether the allreduce, which has ended, brought this rank's fingerprint from all ranks.
  bool agrees() const;
  bool fits() const {
    return layout_->size() < capacity_ && (sendsMoments_ || !layout_->needsMoments);
  }
  /// Makes room for the schema, on which all ranks agree.
  void grow();
  [[noreturn]] void throwMismatch();

  std::shared_ptr<Communicator> communicator_;
  const CollectiveOptions collectiveOptions_;
  TagTable tags_;
  MetricQueue queue_;
  std::shared_ptr<const MetricLayout> layout_ = MetricLayout::none();  // Of taken_.
  std::size_t capacity_ = kInitialCapacity;  // Metrics that fit, and one for the fingerprint.
  bool sendsMoments_ = false;                // Else sums.
  bool sendsRankValues_ = false;             // At once, beside the allreduce.

  // The step that is under way, or was last.
  bool isUnderWay_ = false;
  Stage stage_ = Stage::kWait;
  bool fitted_ = true;          // The message had room for the schema when it was sent.
  bool sentRankValues_ = true;  // They traveled beside it where they had to.
  std::int64_t step_ = 0;
  double fingerprint_ = 0;
  StepMetrics taken_;
  const std::shared_ptr<MetricTotalsPool> pool_ = std::make_shared<MetricTotalsPool>();
  std::shared_ptr<MetricTotals> totals_;
  std::string ownValues_;
  std::vector<std::string> valuesByRank_;

  // Last: their ends wait, while the memory above is still theirs.
  CollectiveHandle allreduce_;
  CollectiveHandle allgather_;
};

}  // namespace steptape::detail
