// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "steptape/base/mutex.h"

namespace steptape::testing {

/// Where the ranks of a ThreadCommunicator meet.
///
/// An operation is one call of meet() per rank. Each rank leaves its part; when all have come, each
/// reads the parts of the others, and no rank goes on before all have read, because the parts are
/// the callers' own memory.
///
/// Thread-safe.
class ThreadGroup {
 public:
  /// What one rank brings to an operation.
  struct Part {
    std::string operation;  ///< Name and sizes; must be equal on all ranks.
    const void* data = nullptr;
    std::size_t bytes = 0;
  };

  explicit ThreadGroup(int size);

  int size() const { return static_cast<int>(parts_.size()); }

  /// Brings `part` and calls `read` with the parts of all ranks, by rank. `read` must not write to
  /// memory that a part names: other ranks read at the same time.
  ///
  /// @throws Error(kRankMismatch) on all ranks if the operations differ; Error(kDeadlineExceeded)
  ///         if a rank has not come within `timeout` or has left.
  void meet(int rank, Part part, std::chrono::milliseconds timeout,
            const std::function<void(const std::vector<Part>&)>& read);

  /// Says that `rank` will not come any more.
  void leave(int rank);

  /// Whether an operation of `rank` has failed because another rank left, or ran out of time.
  bool wasLeftAlone(int rank) const;

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  /// Returns when all ranks have called it. `operation` and `timeout` are for the message.
  void arriveAndWait(int rank, const std::string& operation, std::chrono::milliseconds timeout)
      STEPTAPE_REQUIRES(mutex_);
  [[noreturn]] void throwLeftAlone(int rank, const std::string& why) STEPTAPE_REQUIRES(mutex_);
  std::string absentRanks() const STEPTAPE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar allArrived_;
  std::vector<Part> parts_;  // Each rank writes its own before, and reads all after, a rendezvous.
  std::vector<char> hasArrived_ STEPTAPE_GUARDED_BY(mutex_);
  std::vector<char> wasLeftAlone_ STEPTAPE_GUARDED_BY(mutex_);
  std::size_t arrivals_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  std::size_t generation_ STEPTAPE_GUARDED_BY(mutex_) = 0;  // Rendezvous completed so far.
  std::string brokenBecause_ STEPTAPE_GUARDED_BY(mutex_);   // Empty: all is well.
};

}  // namespace steptape::testing
