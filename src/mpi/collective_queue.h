// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "steptape/base/error.h"

#include "mpi/collective_stages.h"
#include "mpi/rank_comparison.h"

namespace steptape::mpi::detail {

/// One collective from its start to its end.
///
/// A few bytes travel in the comparison of the ranks, in memory of its own. Larger data moves only
/// after the ranks were found to agree: moved at once, beside the comparison, it would save half a
/// microsecond on one node; but where ranks disagree, MPI may never end what they have started, and
/// may write to the caller's memory long after the caller has got the error and released it.
class QueuedCollective {
 public:
  QueuedCollective(MpiGroup& group, const CollectiveCall& call, std::uint64_t sequence);

  /// Does what can be done without waiting.
  ///
  /// @param isTurn Whether the collectives before this one have posted all their calls for data,
  ///               and have been compared: MPI wants the same order of calls on all ranks.
  void advance(MpiGroup& group, bool isTurn, bool areEarlierDecided);
  /// Ends it with this error.
  void fail(std::exception_ptr failure);

  /// Whether every rank is known to have arrived: ranks that are compared have started it, then.
  bool haveAllCome() const { return hasEnded_ || (call_.compareRanks && comparison_.isDecided()); }
  bool isDecided() const { return hasEnded_ || !call_.compareRanks || comparison_.isDecided(); }
  bool hasPostedAll() const { return hasPostedAll_; }
  bool hasEnded() const { return hasEnded_; }
  /// REQUIRES: it has ended.
  void rethrowFailure() const;

  const CollectiveCall& call() const { return call_; }
  std::uint64_t sequence() const { return sequence_; }

 private:
  void advanceData(MpiGroup& group);

  const CollectiveCall call_;
  const std::uint64_t sequence_;
  RankComparison comparison_;
  std::unique_ptr<CollectiveStages> stages_;  // Null: it is all in the comparison.
  Requests requests_;
  bool hasStarted_ = false;  // The data is moving.
  bool hasPostedAll_ = false;
  bool hasEnded_ = false;
  std::exception_ptr failure_;
};

/// The collectives of one group that are on their way, in their order.
class CollectiveQueue {
 public:
  explicit CollectiveQueue(std::shared_ptr<MpiGroup> group) : group_(std::move(group)) {}

  /// @throws Error(kFailedPrecondition) if the group is broken.
  std::shared_ptr<QueuedCollective> add(const CollectiveCall& call);
  /// Moves all on, without waiting.
  void advance();
  /// Ends all with Error(`code`, `why`); no later one can succeed. What MPI may still use is kept
  /// to the end of the process.
  void breakUp(ErrorCode code, const std::string& why);

  MpiGroup& group() { return *group_; }
  /// The number of the latest collective, from 1.
  std::uint64_t latest() const { return latest_; }

 private:
  void keepForever();

  std::shared_ptr<MpiGroup> group_;
  std::deque<std::shared_ptr<QueuedCollective>> active_;
  std::uint64_t latest_ = 0;
};

}  // namespace steptape::mpi::detail
