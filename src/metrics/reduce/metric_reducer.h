// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/collective.h"
#include "steptape/ranks/communicator.h"

#include "metrics/reduce/metric_layout.h"
#include "metrics/reduce/metric_queue.h"
#include "metrics/reduce/metric_totals.h"
#include "metrics/reduce/rank_values.h"
#include "metrics/reduce/tag_table.h"

namespace steptape::detail::metrics {

/// Combines the metrics of a step over all ranks in one allreduce, which also detects whether the
/// ranks agree on what they reduce.
///
/// The message starts with the fingerprint of the rank's schema (tags, statistics, step), in a form
/// from which every rank detects a difference. It has one of two formats:
///
///     sums     fingerprint in 8 doubles | weight, weight * value | ... | unused    added up
///     moments  fingerprint as a metric  | MetricMoments          | ... | unused    merged
///
/// Sums take a third of the bytes and need no call per element. Moments are needed as soon as a
/// metric has, for example, a minimum. Format and capacity change only after an agreement, so they
/// are the same on all ranks even if the numbers of metrics differ: the ranks always meet in the
/// same allreduce, and no rank hangs. The communicator therefore need not compare the ranks.
///
/// In steady state, that is the only collective, and start() only compares the metrics with those
/// of the previous step: add() has built the message. If the schema does not fit, all ranks know it
/// from their own equal schemas, change the format or the capacity alike, and try again. If the
/// fingerprints differ, an allgather of the schemas makes every rank throw the same Error.
///
/// Metrics with kRankValues are also gathered on the root. That starts together with the allreduce
/// if the previous step had such metrics, else after the agreement.
///
/// @threads Not thread-safe: one thread at a time.
class MetricReducer {
 public:
  explicit MetricReducer(std::shared_ptr<Communicator> communicator);

  /// Returns the number of a metric's tag.
  ///
  /// @throws Error(kInvalidArgument) if `tag` is empty, the weight is negative or not finite, the
  ///         wall time is not finite, or a percentile is not from 0 to 100.
  std::uint32_t idOf(std::string_view tag, const ReducedOptions& options);
  void add(std::uint32_t tagId, double value, std::int64_t step, const ReducedOptions& options);

  /// Starts to combine the metrics of `step`. Collective; waits for other ranks only if the schema
  /// does not fit. Invalidates the last results. REQUIRES: no step is in flight.
  ///
  /// @throws std::bad_alloc if memory is short. The step is in flight nevertheless; wait() and
  ///         finish() continue where it stopped, so that no rank waits for this one in vain.
  void start(std::int64_t step);
  /// Returns whether start() was called and its step can still be finished.
  bool isUnderWay() const { return step_.isUnderWay; }
  /// Waits for the step in flight. Not a collective: all ranks have started it or will.
  ///
  /// @return whether the ranks agree; if not, finish() reports how they differ.
  bool wait();
  /// Waits for the step in flight and provides its results. Collective.
  ///
  /// @throws Error(kRankMismatch) on every rank if the ranks differ; then no metric is queued any
  ///         more.
  void finish();

  /// Returns the step of the last start().
  std::int64_t step() const { return step_.number; }
  /// Returns the totals of all ranks at the step of the last finish(), the same on every rank.
  std::shared_ptr<const MetricTotals> totals() const { return totals_; }
  /// Returns a copy of this rank's own sums.
  std::shared_ptr<const MetricTotals> ownSums();
  /// Sets `values` to those of all ranks, on the root; no other rank has them. `at` counts only
  /// metrics with kRankValues.
  void rankValues(std::size_t at, std::vector<RankValue>& values) const {
    rankValuesAt(valuesByRank_, at, values);
  }

  const std::string& nameOf(std::uint32_t tagId) const { return tags_.nameOf(tagId); }

  /// Returns the number of metrics of the step in flight.
  std::size_t metricsUnderWay() const { return step_.isUnderWay ? taken_.size() : 0; }
  /// Returns the number of metrics that were added and not passed to start().
  std::size_t pendingCount() const { return queue_.size(); }

 private:
  /// The next action for the step in flight.
  enum class Stage : std::uint8_t {
    kLayOut,
    kAllreduce,
    kRankValues,
    kLookWhetherItFits,  ///< Only for the first step of a schema, like the next two.
    kAllreduceAgain,
    kRankValuesAfterwards,
    kWait,
  };
  /// The form of the messages, on which all ranks agree.
  struct MessageFormat {
    bool fits(const MetricLayout& layout) const {
      return layout.size() < capacity && (sendsMoments || !layout.needsMoments);
    }
    /// Makes room, if there is not enough.
    void growFor(const MetricLayout& layout);

    std::size_t capacity = 16;     // places for metrics, and one for the fingerprint
    bool sendsMoments = false;     // else sums
    bool sendsRankValues = false;  // at once, together with the allreduce
  };
  struct StepInFlight {
    bool isUnderWay = false;
    Stage stage = Stage::kWait;
    bool fitted = true;          // the message had room for the schema when it was sent
    bool sentRankValues = true;  // they were sent together with it if necessary
    std::int64_t number = 0;
    double fingerprint = 0;
  };

  /// Continues until only the ends of the collectives are pending.
  void advance();
  /// Can be repeated if it throws std::bad_alloc.
  /// @return the next stage.
  Stage pass(Stage stage);
  /// Sorts the metrics into the order of the message.
  void layOut();
  /// Waits for the collectives.
  /// @return whether the ranks agree.
  bool compare();
  void postAllreduce();
  void postRankValues();
  /// Returns whether the finished allreduce had this rank's fingerprint from all ranks.
  bool agrees() const;
  [[noreturn]] void throwMismatch();

  std::shared_ptr<Communicator> communicator_;
  const CollectiveOptions collectiveOptions_;
  TagTable tags_;
  MetricQueue queue_;
  std::shared_ptr<const MetricLayout> layout_ = MetricLayout::none();  // of taken_
  MessageFormat format_;
  StepInFlight step_;  // or the last one
  StepMetrics taken_;
  const std::shared_ptr<MetricTotalsPool> pool_ = std::make_shared<MetricTotalsPool>();
  std::shared_ptr<MetricTotals> totals_;
  std::string ownValues_;
  std::vector<std::string> valuesByRank_;

  // Last: their destructors wait while the memory above still exists.
  CollectiveHandle allreduce_;
  CollectiveHandle gather_;
};

}  // namespace steptape::detail::metrics
