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

/// What the collectives of one MpiCommunicator share.
struct MpiEngine {
  explicit MpiEngine(const std::shared_ptr<MpiGroup>& mpiGroup)
      : group(mpiGroup), queue(mpiGroup), notes(mpiGroup) {}

  std::shared_ptr<MpiGroup> group;
  CollectiveQueue queue;
  StallNotes notes;
};

/// How long to wait for other ranks, and whom to tell meanwhile.
struct StallLimits {
  std::chrono::milliseconds timeout;
  std::chrono::milliseconds warnAfter;  // 0: never.
  std::function<void(const std::string&)> warn;
};

/// The caller's end of a QueuedCollective.
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
  /// What a rank does that has waited for so long already.
  void lookForOthers(Clock::duration waited);
  /// Where another wait of this process has given a rank up: the job ends, and what was under way
  /// beside it need not take its whole time too.
  void giveUpIfJobIsLost();
  [[noreturn]] void giveUp();

  std::shared_ptr<MpiEngine> engine_;
  StallLimits limits_;
  std::shared_ptr<QueuedCollective> collective_;
  steptape::detail::PollPause pause_;  // Of both waits, which share the time limit.
  Clock::time_point firstPoll_;        // Epoch: none yet.
  bool hasWarned_ = false;
};

}  // namespace steptape::mpi::detail
