// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "ranks/communicator/collective_call.h"
#include "ranks/communicator/group_map.h"
#include "ranks/testing/thread_job.h"

namespace steptape::testing {

/// The meeting point of the ranks of a ThreadCommunicator.
///
/// Each collective is one meeting. A rank that arrives stores its part and continues. The last rank
/// to arrive executes the collective for all, with the memory of all ranks.
///
/// @threads Thread-safe.
class ThreadGroup {
 public:
  /// One collective in flight.
  struct Meeting {
    explicit Meeting(std::size_t size) : callByRank(size), hasCome(size, 0) {}

    std::vector<detail::ranks::CollectiveCall> callByRank;
    std::vector<char> hasCome;
    std::size_t arrivals = 0;
    bool hasEnded = false;
    std::string mismatch;  // empty: the ranks agreed
  };

  /// @param worldRanks The group's ranks, as numbered in the job.
  ThreadGroup(std::shared_ptr<ThreadJob> job, std::vector<int> worldRanks);

  /// Adds this rank's `call`. The memory that it refers to must exist until the meeting has ended.
  std::shared_ptr<Meeting> arrive(const detail::ranks::GroupMap& group,
                                  const detail::ranks::CollectiveCall& call);

  /// Returns whether `meeting` has ended.
  /// @throws as waitUntil().
  bool hasEnded(const detail::ranks::GroupMap& group, const detail::ranks::CollectiveCall& call,
                const Meeting& meeting);
  /// Waits until `meeting` has ended, but at most until `deadline`.
  ///
  /// @return whether it has ended.
  /// @throws Error(kRankMismatch) on all ranks if their calls differ; Error(kDeadlineExceeded) if a
  ///         missing rank has left or was given up.
  bool waitUntil(const detail::ranks::GroupMap& group, const detail::ranks::CollectiveCall& call,
                 const Meeting& meeting, std::chrono::steady_clock::time_point deadline);
  /// Returns the ranks that have not arrived.
  std::vector<int> absentRanks(const Meeting& meeting);
  /// Ends the group: no further collective can succeed.
  ///
  /// @throws Error(kDeadlineExceeded) with the ranks that have not arrived at `meeting`, unless it
  ///         has ended meanwhile.
  void giveUp(const detail::ranks::GroupMap& group, const detail::ranks::CollectiveCall& call,
              const Meeting& meeting, std::chrono::milliseconds timeout);

  /// Ends the group without an allocation, for a rank that has run out of memory.
  void breakUp();

  /// Gives all `takers` ranks the same object, which the first rank to arrive makes.
  ///
  /// @param key Identifies the object in the group; the same on all takers.
  std::shared_ptr<void> share(const std::string& key, int takers,
                              const std::function<std::shared_ptr<void>()>& make);

  /// @throws Error(kDeadlineExceeded) with the first of `ranks` that has left.
  void checkPresent(const detail::ranks::GroupMap& group, const std::vector<int>& ranks);

  const std::shared_ptr<ThreadJob>& job() const { return job_; }
  const std::vector<int>& worldRanks() const { return worldRanks_; }
  int worldRank(int rank) const { return worldRanks_[static_cast<std::size_t>(rank)]; }

 private:
  struct Shared {
    std::shared_ptr<void> object;
    int takers = 0;
  };

  bool hasEndedLocked(const detail::ranks::GroupMap& group,
                      const detail::ranks::CollectiveCall& call, const Meeting& meeting)
      STEPTAPE_REQUIRES(job_->mutex);
  std::vector<int> absentLocked(const Meeting& meeting) const STEPTAPE_REQUIRES(job_->mutex);
  [[noreturn]] void throwLeftAlone(int rank, const std::string& why) STEPTAPE_REQUIRES(job_->mutex);

  const std::shared_ptr<ThreadJob> job_;  // its lock: an ending rank wakes all waiting ranks
  const std::vector<int> worldRanks_;
  std::vector<std::size_t> nextMeeting_ STEPTAPE_GUARDED_BY(job_->mutex);  // by rank
  std::map<std::size_t, std::shared_ptr<Meeting>> meetings_ STEPTAPE_GUARDED_BY(job_->mutex);
  std::map<std::string, Shared> shared_ STEPTAPE_GUARDED_BY(job_->mutex);
  std::string brokenBecause_ STEPTAPE_GUARDED_BY(job_->mutex);  // empty: not broken
};

}  // namespace steptape::testing
