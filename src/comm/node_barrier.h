// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "steptape/base/export.h"
#include "steptape/comm/node_memory.h"

namespace steptape::detail {

/// A barrier of the ranks of one node, in memory that they share: what was written before it is
/// seen after it.
///
/// Each rank counts its arrivals on a cache line of its own, which only it writes, and reads those
/// of the others. A rank that waits looks without a pause at first, then yields, and after 10 ms
/// sleeps between looks, as PollPause does.
///
/// @threads Not thread-safe: one thread of each rank at a time.
/// @cost    With 2 ranks on 2 cores that share a cache: 0.1 to 0.3 microseconds.
class STEPTAPE_EXPORT NodeBarrier {
 public:
  /// Bytes that a barrier of `localSize` ranks takes.
  static std::size_t bytesFor(int localSize) {
    return static_cast<std::size_t>(localSize) * sizeof(Line);
  }

  /// All ranks of the node make one over the same bytes, which nothing else writes. Not a
  /// collective: it needs no rendezvous.
  ///
  /// @param memory Must outlive the barrier. The bytes are zeros at first.
  /// @param offset Of the barrier's bytes in `memory`; a multiple of 64.
  /// @throws Error(kInvalidArgument) if the bytes do not lie in `memory`, or `offset` is crooked.
  NodeBarrier(NodeMemory& memory, std::size_t offset, int localRank, int localSize);

  /// Returns when every rank has called it as often as this one.
  ///
  /// Warns once of a wait that is longer than NodeMemory::stallWarningAfter(), naming the ranks
  /// that are missing.
  ///
  /// @param what What the ranks meet for, in errors and warnings.
  /// @throws Error(kDeadlineExceeded) naming the ranks that did not come within `timeout`, or one
  ///         that has ended. The barrier is out of step then and of no more use.
  void arriveAndWait(std::chrono::milliseconds timeout, const char* what);

 private:
  struct alignas(64) Line {
    std::atomic<std::uint64_t> arrivals;
  };

  bool haveAllArrived();
  void checkPeers(const char* what);
  /// The names of the ranks that have not come to this round.
  std::string missing() const;
  void warnOfStall(const char* what) const;
  [[noreturn]] void throwMissing(std::chrono::milliseconds timeout, const char* what) const;
  [[noreturn]] void giveUp(const std::string& why) const;

  NodeMemory* memory_;
  Line* lines_;
  int localRank_;
  int localSize_;
  int nextToArrive_ = 0;  // Ranks below it have been seen in this round.
  std::uint64_t round_;
};

}  // namespace steptape::detail
