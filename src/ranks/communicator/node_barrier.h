// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "steptape/base/export.h"
#include "steptape/ranks/collective.h"

namespace steptape::detail::ranks {

/// A barrier for the ranks of one node, in memory that they share. Writes before the barrier are
/// visible after it.
///
/// Each rank counts its arrivals in its own cache line, which only it writes, and reads the counts
/// of the others. A waiting rank polls at first without a pause, then yields between polls, and
/// after 10 ms sleeps between polls, like PollPause.
///
/// @threads Not thread-safe: one thread of each rank at a time.
/// @cost    With 2 ranks on 2 cores that share a cache: 0.1 to 0.3 microseconds.
class STEPTAPE_EXPORT NodeBarrier {
 public:
  /// Returns the bytes for a barrier of `localSize` ranks.
  static std::size_t bytesFor(int localSize) {
    return static_cast<std::size_t>(localSize) * sizeof(Line);
  }

  /// Every rank of the node constructs a barrier on the same bytes, which nothing else writes. This
  /// is not a collective: the ranks need not meet.
  ///
  /// @param memory Must outlive the barrier. The bytes must be zero at first.
  /// @param offset Start of the barrier's bytes in `memory`; a multiple of 64.
  /// @throws Error(kInvalidArgument) if the bytes exceed `memory`, or if `offset` is not aligned.
  NodeBarrier(NodeMemory& memory, std::size_t offset, int localRank, int localSize);

  /// Waits until every rank has called it as often as this one.
  ///
  /// Warns once if a wait takes longer than NodeMemory::stallWarningAfter(), and names the missing
  /// ranks.
  ///
  /// @param what Purpose of the barrier, for errors and warnings.
  /// @throws Error(kDeadlineExceeded) with the ranks that did not arrive in time, or a rank
  ///         that has ended. The barrier is then unusable.
  void arriveAndWait(std::chrono::milliseconds timeout, const char* what);

 private:
  struct alignas(64) Line {
    std::atomic<std::uint64_t> arrivals;
  };

  bool haveAllArrived();
  void checkPeers(const char* what);
  /// Returns the names of the ranks that have not arrived in this round.
  std::string missing() const;
  void warnOfStall(const char* what) const;
  [[noreturn]] void throwMissing(std::chrono::milliseconds timeout, const char* what) const;
  [[noreturn]] void giveUp(const std::string& why) const;

  NodeMemory* memory_;
  Line* lines_;
  int localRank_;
  int localSize_;
  int nextToArrive_ = 0;  // ranks below it have arrived in this round
  std::uint64_t round_;
};

}  // namespace steptape::detail::ranks
