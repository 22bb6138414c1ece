// SPDX-License-Identifier: Apache-2.0
#include "testing/thread_group.h"

#include <algorithm>
#include <utility>

#include "steptape/base/error.h"

namespace steptape::testing {
namespace {

std::size_t indexOf(int rank) {
  return static_cast<std::size_t>(rank);
}

}  // namespace

ThreadGroup::ThreadGroup(int size)
    : parts_(indexOf(size)), hasArrived_(indexOf(size), 0), wasLeftAlone_(indexOf(size), 0) {}

void ThreadGroup::meet(int rank, Part part, std::chrono::milliseconds timeout,
                       const std::function<void(const std::vector<Part>&)>& read) {
  const std::string operation = part.operation;
  parts_[indexOf(rank)] = std::move(part);
  {
    MutexLock lock(mutex_);
    arriveAndWait(rank, operation, timeout);
  }
  std::string mismatch;
  for (std::size_t other = 1; other < parts_.size() && mismatch.empty(); ++other) {
    if (parts_[other].operation != parts_[0].operation) {
      mismatch = "ranks meet in different operations: rank 0 in " + parts_[0].operation +
                 ", rank " + std::to_string(other) + " in " + parts_[other].operation;
    }
  }
  if (mismatch.empty()) {
    read(parts_);
  }
  {
    MutexLock lock(mutex_);
    arriveAndWait(rank, operation, timeout);
  }
  if (!mismatch.empty()) {
    throw Error(ErrorCode::kRankMismatch, mismatch);
  }
}

void ThreadGroup::arriveAndWait(int rank, const std::string& operation,
                                std::chrono::milliseconds timeout) {
  if (!brokenBecause_.empty()) {
    throwLeftAlone(rank, operation + ": " + brokenBecause_);
  }
  hasArrived_[indexOf(rank)] = 1;
  if (++arrivals_ == hasArrived_.size()) {
    std::fill(hasArrived_.begin(), hasArrived_.end(), 0);
    arrivals_ = 0;
    ++generation_;
    allArrived_.notifyAll();
    return;
  }
  const std::size_t mine = generation_;
  const Deadline deadline = std::chrono::steady_clock::now() + timeout;
  while (generation_ == mine && brokenBecause_.empty()) {
    if (!allArrived_.waitUntil(mutex_, deadline) && generation_ == mine && brokenBecause_.empty()) {
      brokenBecause_ =
          absentRanks() + " did not come within " + std::to_string(timeout.count()) + " ms";
      allArrived_.notifyAll();
    }
  }
  if (generation_ == mine) {
    throwLeftAlone(rank, operation + ": " + brokenBecause_);
  }
}

void ThreadGroup::throwLeftAlone(int rank, const std::string& why) {
  wasLeftAlone_[indexOf(rank)] = 1;
  throw Error(ErrorCode::kDeadlineExceeded, "rank " + std::to_string(rank) + " in " + why);
}

std::string ThreadGroup::absentRanks() const {
  std::string absent;
  for (std::size_t rank = 0; rank < hasArrived_.size(); ++rank) {
    if (hasArrived_[rank] == 0) {
      absent += (absent.empty() ? "rank " : ", rank ") + std::to_string(rank);
    }
  }
  return absent;
}

void ThreadGroup::leave(int rank) {
  MutexLock lock(mutex_);
  if (brokenBecause_.empty()) {
    brokenBecause_ = "rank " + std::to_string(rank) + " has left and will not come";
  }
  allArrived_.notifyAll();
}

bool ThreadGroup::wasLeftAlone(int rank) const {
  MutexLock lock(mutex_);
  return wasLeftAlone_[indexOf(rank)] != 0;
}

}  // namespace steptape::testing
