// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace steptape::detail::profile {

/// A trigger's request. If several ranks have requests, the largest value counts.
enum class TriggerWish : std::uint8_t { kNone, kBegin, kEnd };

/// Lets all ranks follow a request after the same step, although only one of them receives it.
///
/// The ranks communicate in rounds, about five times a second, or every 256 steps if steps are
/// short. All ranks know the step of the next round: it follows from the step time of the slowest
/// rank, and is agreed on together with the requests.
///
///     step        100              110
///     rank 0      writes           reads what was written in step 100, writes
///     rank 1        writes         the same
///
/// Ranks of one node communicate through shared memory. A request is followed when the next round
/// is read, so no rank waits unless another is a whole round late. Ranks of several nodes use an
/// allreduce.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost    A nanosecond per step between rounds. Per round about a microsecond on one node, else
///          an allreduce.
class STEPTAPE_EXPORT TriggerAgreement {
 public:
  /// Collective.
  explicit TriggerAgreement(std::shared_ptr<Communicator> ranks);
  /// Tells the ranks of the node that this one has left. Not collective.
  ~TriggerAgreement();
  TriggerAgreement(const TriggerAgreement&) = delete;
  TriggerAgreement& operator=(const TriggerAgreement&) = delete;

  /// Call it after every step, with this rank's request until it is followed.
  ///
  /// @return what to do now, the same on all ranks.
  /// @throws across nodes as Communicator::allreduce().
  TriggerWish endStep(TriggerWish ofThisRank) {
    return ++step_ < nextRound_ ? TriggerWish::kNone : endRound(ofThisRank);
  }

  /// Returns whether a rank of this node has left, or has not arrived within the communicator's
  /// timeout. The others can then no longer agree, and endStep() stops communicating.
  bool isOver() const { return isOver_; }

 private:
  struct Slot;
  /// The message of a rank in a round; the largest of all ranks is used.
  struct Told {
    TriggerWish wish = TriggerWish::kNone;
    std::int64_t nanosPerStep = 0;
  };

  TriggerWish endRound(TriggerWish ofThisRank);
  Told tellAll(const Told& ofThisRank);
  void tellNode(const Told& ofThisRank);
  std::optional<Told> readNode();
  bool hasTold(const Slot& slot);

  std::shared_ptr<Communicator> ranks_;
  std::shared_ptr<NodeMemory> memory_;  // null: ranks of several nodes
  Slot* slots_ = nullptr;               // of each rank, in memory_
  std::uint64_t round_ = 0;             // rounds in which this rank has written
  bool isOver_ = false;
  std::int64_t step_ = 0;
  std::int64_t nextRound_ = 1;
  std::int64_t lastRound_ = 0;  // step of the last round
  std::int64_t lastRoundNanos_;
};

}  // namespace steptape::detail::profile
