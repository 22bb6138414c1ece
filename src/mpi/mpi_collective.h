// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "comm/poll_pause.h"
#include "mpi/collective_queue.h"
#include "mpi/stall_notes.h"

namespace steptape::mpi::detail {

/// State that the collectives of one MpiCommunicator share.
struct MpiEngine {
  explicit MpiEngine(const std::shared_ptr<MpiGroup>& mpiGroup)
      : group(mpiGroup), queue(mpiGroup), notes(mpiGroup) {}

  std::shared_ptr<MpiGroup> group;
  CollectiveQueue queue;
  StallNotes notes;
};

/// The time limits of a wait, and the listener.
struct StallLimits {
  std::chrono::milliseconds timeout;
  std::chrono::milliseconds warnAfter;  // 0: never
  std::function<void(const std::string&)> warn;
};

/// The caller's handle of a QueuedCollective.
class MpiCollective final : public steptape::detail::PendingCollective {
 public:
  MpiCollective(std::shared_ptr<MpiEngine> engine, const CollectiveCall& call, StallLimits limits);
  bool poll() override;
  void wait() override;
  void waitForRanks() override;

 private:
  using Clock = std::chrono::steady_clock;

  bool hasEnded();
  bool haveRanksCome() { return hasEnded() || collective_->haveAllCome(); }
  void advance();
  template <typename Condition>
  void waitUntil(const Condition& condition);
  /// Asks for other ranks, depending on how long this rank has waited.
  void lookForOthers(Clock::duration waited);
  /// Ends the wait if another wait of this process has given up a rank: the job ends, so other
  /// operations in flight need not use their whole timeout.
  void giveUpIfJobIsLost();
  [[noreturn]] void giveUp();

  std::shared_ptr<MpiEngine> engine_;
  StallLimits limits_;
  std::shared_ptr<QueuedCollective> collective_;
  steptape::detail::PollPause pause_;  // of both waits, which share the time limit
  Clock::time_point firstPoll_;        // epoch: none yet
  bool hasWarned_ = false;
};

}  // namespace steptape::mpi::detail
