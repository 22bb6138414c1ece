// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape::detail {

/// What a trigger asks for. Of what several ranks ask for the greatest counts.
enum class TriggerWish : std::uint8_t { kNone, kBegin, kEnd };

/// Lets all ranks follow a request after the same step, although only one of them receives it.
///
/// They ask each other about five times a second, or every 256 steps where those are short, in
/// steps that all of them know: how far the next such step is follows from how long the slowest
/// rank's steps take, and is agreed on with the wishes.
///
///     step        100              110
///     rank 0      writes           reads what was written in step 100, writes
///     rank 1        writes         the same
///
/// Ranks of one node communicate through shared memory. A request is followed when the next round
/// is read, so no rank waits unless another is a whole round late. Ranks of several nodes make an
/// allreduce.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost    Of the steps between: a nanosecond. Of a round on one node: about a microsecond; else
///          an allreduce.
class STEPTAPE_EXPORT TriggerAgreement {
 public:
  /// Collective.
  explicit TriggerAgreement(std::shared_ptr<Communicator> ranks);
  /// Lets the ranks of the node know that this one asks no more; not collective.
  ~TriggerAgreement();
  TriggerAgreement(const TriggerAgreement&) = delete;
  TriggerAgreement& operator=(const TriggerAgreement&) = delete;

  /// To be called after every step, with this rank's request until it was followed.
  ///
  /// @return what to do now, the same on all ranks.
  /// @throws across nodes as Communicator::allreduce().
  TriggerWish endStep(TriggerWish ofThisRank) {
    return ++step_ < nextRound_ ? TriggerWish::kNone : endRound(ofThisRank);
  }

  /// Whether a rank of this node has left, or has not come for the communicator's timeout: the
  /// others can agree on nothing from then on, and endStep() asks no more.
  bool isOver() const { return isOver_; }

 private:
  struct Slot;
  /// What a rank writes in a round; the largest of all ranks is used.
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
  std::uint64_t round_ = 0;             // rounds that this rank has written in
  bool isOver_ = false;
  std::int64_t step_ = 0;
  std::int64_t nextRound_ = 1;
  std::int64_t lastRound_ = 0;  // its step
  std::int64_t lastRoundNanos_;
};

}  // namespace steptape::detail
