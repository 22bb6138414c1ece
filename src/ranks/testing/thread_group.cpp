// SPDX-License-Identifier: Apache-2.0
#include "ranks/testing/thread_group.h"

#include <algorithm>
#include <utility>

#include "steptape/base/status.h"

#include "ranks/communicator/group_messages.h"
#include "ranks/testing/carry_out.h"

namespace steptape::testing {
namespace {

using detail::ranks::CollectiveCall;
using detail::ranks::GroupMap;

std::size_t indexOf(int rank) {
  return static_cast<std::size_t>(rank);
}

std::string mismatchIn(const std::vector<CollectiveCall>& callByRank, const GroupMap& group) {
  std::vector<std::string> descriptions;
  descriptions.reserve(callByRank.size());
  for (const CollectiveCall& call : callByRank) {
    descriptions.push_back(call.describe());
  }
  const bool areEqual =
      std::equal(descriptions.begin() + 1, descriptions.end(), descriptions.begin());
  return areEqual ? "" : detail::ranks::mismatchText(descriptions, group);
}

}  // namespace

ThreadGroup::ThreadGroup(std::shared_ptr<ThreadJob> job, std::vector<int> worldRanks)
    : job_(std::move(job)),
      worldRanks_(std::move(worldRanks)),
      nextMeeting_(worldRanks_.size(), 0) {}

std::shared_ptr<ThreadGroup::Meeting> ThreadGroup::arrive(const GroupMap& group,
                                                          const CollectiveCall& call) {
  detail::base::MutexLock lock(job_->mutex);
  if (!brokenBecause_.empty()) {
    throwLeftAlone(group.rank(), call.describe() + ": " + brokenBecause_);
  }
  const std::size_t own = indexOf(group.rank());
  const std::size_t number = nextMeeting_[own];
  std::shared_ptr<Meeting>& slot = meetings_[number];
  if (!slot) {
    slot = std::make_shared<Meeting>(worldRanks_.size());
  }
  std::shared_ptr<Meeting> meeting = slot;
  meeting->callByRank[own] = call;
  if (meeting->arrivals + 1 == worldRanks_.size()) {
    meeting->mismatch = mismatchIn(meeting->callByRank, group);
    if (meeting->mismatch.empty()) {
      meeting->mismatch = carryOut(meeting->callByRank);
    }
    meeting->hasEnded = true;
    meetings_.erase(number);
    job_->changed.notifyAll();
  }
  // Only now: a rank that throws std::bad_alloc above has not arrived.
  ++meeting->arrivals;
  meeting->hasCome[own] = 1;
  ++nextMeeting_[own];
  return meeting;
}

bool ThreadGroup::hasEnded(const GroupMap& group, const CollectiveCall& call,
                           const Meeting& meeting) {
  detail::base::MutexLock lock(job_->mutex);
  return hasEndedLocked(group, call, meeting);
}

bool ThreadGroup::waitUntil(const GroupMap& group, const CollectiveCall& call,
                            const Meeting& meeting,
                            std::chrono::steady_clock::time_point deadline) {
  detail::base::MutexLock lock(job_->mutex);
  while (!hasEndedLocked(group, call, meeting)) {
    if (!job_->changed.waitUntil(job_->mutex, deadline)) {
      return hasEndedLocked(group, call, meeting);
    }
  }
  return true;
}

bool ThreadGroup::hasEndedLocked(const GroupMap& group, const CollectiveCall& call,
                                 const Meeting& meeting) {
  if (meeting.hasEnded) {
    if (!meeting.mismatch.empty()) {
      throw Error(ErrorCode::kRankMismatch, meeting.mismatch);
    }
    return true;
  }
  for (const int rank : absentLocked(meeting)) {
    if (brokenBecause_.empty() && job_->hasLeft[indexOf(worldRank(rank))] != 0) {
      brokenBecause_ = group.nameOf(rank) + " has left and will not arrive";
      job_->changed.notifyAll();
    }
  }
  if (!brokenBecause_.empty()) {
    throwLeftAlone(group.rank(),
                   call.describe() + " on " + group.nameOf(group.rank()) + ": " + brokenBecause_);
  }
  return false;
}

std::vector<int> ThreadGroup::absentRanks(const Meeting& meeting) {
  detail::base::MutexLock lock(job_->mutex);
  return absentLocked(meeting);
}

std::vector<int> ThreadGroup::absentLocked(const Meeting& meeting) const {
  std::vector<int> absent;
  for (std::size_t rank = 0; rank < meeting.hasCome.size(); ++rank) {
    if (meeting.hasCome[rank] == 0) {
      absent.push_back(static_cast<int>(rank));
    }
  }
  return absent;
}

void ThreadGroup::giveUp(const GroupMap& group, const CollectiveCall& call, const Meeting& meeting,
                         std::chrono::milliseconds timeout) {
  detail::base::MutexLock lock(job_->mutex);
  if (hasEndedLocked(group, call, meeting)) {
    return;
  }
  const std::string missing = group.namesOf(absentLocked(meeting));
  brokenBecause_ = missing + " did not arrive within " + std::to_string(timeout.count()) + " ms";
  job_->changed.notifyAll();
  throwLeftAlone(group.rank(), detail::ranks::deadlineText(call, timeout, missing, group));
}

void ThreadGroup::breakUp() {
  detail::base::MutexLock lock(job_->mutex);
  brokenBecause_ = "out of memory";  // short enough to need no allocation
  job_->changed.notifyAll();
}

void ThreadGroup::throwLeftAlone(int rank, const std::string& why) {
  job_->wasLeftAlone[indexOf(worldRank(rank))] = 1;
  throw Error(ErrorCode::kDeadlineExceeded, why);
}

std::shared_ptr<void> ThreadGroup::share(const std::string& key, int takers,
                                         const std::function<std::shared_ptr<void>()>& make) {
  detail::base::MutexLock lock(job_->mutex);
  Shared& shared = shared_[key];
  if (shared.takers == 0) {
    shared.object = make();
  }
  std::shared_ptr<void> object = shared.object;
  if (++shared.takers == takers) {
    shared_.erase(key);
  }
  return object;
}

void ThreadGroup::checkPresent(const GroupMap& group, const std::vector<int>& ranks) {
  detail::base::MutexLock lock(job_->mutex);
  for (const int rank : ranks) {
    if (job_->hasLeft[indexOf(worldRank(rank))] != 0) {
      throwLeftAlone(group.rank(), group.nameOf(rank) + " has left and will not arrive");
    }
  }
}

}  // namespace steptape::testing
