// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "steptape/base/status.h"

#include "ranks/engine/collective_stages.h"
#include "ranks/engine/rank_comparison.h"

namespace steptape::detail::ranks {

/// One collective from its start to its end.
///
/// A few bytes are sent together with the comparison of the ranks, in separate memory. Larger data
/// is sent only after the ranks agree. Sending it at once would save half a microsecond on one
/// node. But if ranks disagree, a transport such as MPI may never finish, and may write to the
/// caller's memory long after the caller has received the error and freed it.
class QueuedCollective {
 public:
  QueuedCollective(Transport& transport, const CollectiveCall& call, std::uint64_t sequence);

  /// Does everything that is possible without waiting.
  ///
  /// @param isTurn            Whether all earlier collectives have started their operations for
  ///                          data. Transports require the same order on all ranks.
  /// @param areEarlierDecided Whether all earlier collectives have been compared.
  void advance(Transport& transport, bool isTurn, bool areEarlierDecided);
  /// Ends it with this error.
  void fail(std::exception_ptr failure);

  /// Returns whether every rank is known to have arrived: after a comparison, all ranks have
  /// started it.
  bool allArrived() const { return hasEnded_ || (call_.compareRanks && comparison_.isDecided()); }
  bool isDecided() const { return hasEnded_ || !call_.compareRanks || comparison_.isDecided(); }
  bool hasPostedAll() const { return hasPostedAll_; }
  bool hasEnded() const { return hasEnded_; }
  /// REQUIRES: it has ended.
  void rethrowFailure() const;

  const CollectiveCall& call() const { return call_; }
  std::uint64_t sequence() const { return sequence_; }

 private:
  void advanceData(Transport& transport);

  const CollectiveCall call_;
  const std::uint64_t sequence_;
  RankComparison comparison_;
  std::unique_ptr<CollectiveStages> stages_;  // null: everything is in the comparison
  Transfers transfers_;
  bool hasStarted_ = false;  // the data is in flight
  bool hasPostedAll_ = false;
  bool hasEnded_ = false;
  std::exception_ptr failure_;
};

/// The collectives of one group that are in flight, in order.
class CollectiveQueue {
 public:
  explicit CollectiveQueue(std::shared_ptr<Transport> transport)
      : transport_(std::move(transport)) {}

  /// @throws Error(kFailedPrecondition) if the group is broken.
  std::shared_ptr<QueuedCollective> add(const CollectiveCall& call);
  /// Advances all collectives without waiting.
  void advance();
  /// Ends all with Error(`code`, `why`); no later one can succeed. Keeps memory that the transport
  /// may still use until the process ends.
  void breakUp(ErrorCode code, const std::string& why);

  /// Returns the number of the latest collective, from 1.
  std::uint64_t latest() const { return latest_; }

 private:
  void keepForever();

  std::shared_ptr<Transport> transport_;
  std::deque<std::shared_ptr<QueuedCollective>> active_;
  std::uint64_t latest_ = 0;
};

}  // namespace steptape::detail::ranks
