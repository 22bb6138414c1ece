// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "ranks/communicator/collective_call.h"
#include "ranks/communicator/group_map.h"
#include "ranks/testing/thread_group.h"

namespace steptape::testing {

/// One rank's view of a meeting.
class ThreadCollective final : public detail::ranks::PendingCollective {
 public:
  /// The time limits of a wait, and the listener.
  struct Stall {
    std::chrono::milliseconds timeout;
    std::chrono::milliseconds warnAfter;  // 0: never
    std::function<void(const std::string&)> warn;
  };

  ThreadCollective(std::shared_ptr<ThreadGroup> group,
                   std::shared_ptr<const detail::ranks::GroupMap> map,
                   const detail::ranks::CollectiveCall& call, Stall stall);
  bool poll() override;
  void wait() override;
  /// The last rank to arrive executes the collective, so there is nothing else to wait for.
  void waitForRanks() override { wait(); }

 private:
  using Clock = std::chrono::steady_clock;

  void waitOrGiveUp();

  std::shared_ptr<ThreadGroup> group_;
  std::shared_ptr<const detail::ranks::GroupMap> map_;
  detail::ranks::CollectiveCall call_;
  Stall stall_;
  std::shared_ptr<ThreadGroup::Meeting> meeting_;
  Clock::time_point firstPoll_;  // epoch: none yet
};

}  // namespace steptape::testing
