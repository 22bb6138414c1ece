// SPDX-License-Identifier: Apache-2.0
#include "ranks/testing/thread_collective.h"

#include <new>
#include <utility>

#include "ranks/communicator/group_messages.h"

namespace steptape::testing {

ThreadCollective::ThreadCollective(std::shared_ptr<ThreadGroup> group,
                                   std::shared_ptr<const detail::ranks::GroupMap> map,
                                   const detail::ranks::CollectiveCall& call, Stall stall)
    : group_(std::move(group)),
      map_(std::move(map)),
      call_(call),
      stall_(std::move(stall)),
      meeting_(group_->arrive(*map_, call_)) {}

bool ThreadCollective::poll() {
  if (group_->hasEnded(*map_, call_, *meeting_)) {
    return true;
  }
  const Clock::time_point now = Clock::now();
  if (firstPoll_ == Clock::time_point()) {
    firstPoll_ = now;
  }
  if (now - firstPoll_ < stall_.timeout) {
    return false;
  }
  group_->giveUp(*map_, call_, *meeting_, stall_.timeout);
  return true;
}

void ThreadCollective::wait() {
  try {
    waitOrGiveUp();
  } catch (const std::bad_alloc&) {
    group_->breakUp();  // no rank may execute what this rank no longer waits for
    throw;
  }
}

void ThreadCollective::waitOrGiveUp() {
  const Clock::time_point deadline = Clock::now() + stall_.timeout;
  if (stall_.warnAfter.count() > 0 && stall_.warnAfter < stall_.timeout) {
    const Clock::time_point warnAt = deadline - stall_.timeout + stall_.warnAfter;
    if (group_->waitUntil(*map_, call_, *meeting_, warnAt)) {
      return;
    }
    const std::string missing = map_->namesOf(group_->absentRanks(*meeting_));
    // Called without the group's lock: the listener is the user's code.
    if (!missing.empty()) {
      stall_.warn(detail::ranks::stallText(call_.title(), stall_.warnAfter, missing));
    }
  }
  if (!group_->waitUntil(*map_, call_, *meeting_, deadline)) {
    group_->giveUp(*map_, call_, *meeting_, stall_.timeout);
  }
}

}  // namespace steptape::testing
