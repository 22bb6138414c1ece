// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <sched.h>
#include <thread>

namespace steptape::mpi::detail {

/// What to do between two polls of an MPI request, and whether its time is over.
///
/// Three phases. A collective of ranks in step takes microseconds, so first nothing is done. Then
/// the core is yielded: with more ranks than cores the rank that we wait for may need this one.
/// After 10 ms we wait for a straggler; sleeping leaves it the core, in short naps with bursts of
/// polls between them, because MPI moves a large message only while it is polled.
class PollPause {
 public:
  explicit PollPause(std::chrono::milliseconds timeout) : timeout_(timeout) {}

  /// @return false if the time is over.
  bool next() {
    ++polls_;
    if (polls_ < kEagerPolls) {
      return true;
    }
    const auto now = Clock::now();
    if (polls_ == kEagerPolls) {
      start_ = now;
    }
    const auto waited = now - start_;
    if (waited > timeout_) {
      return false;
    }
    if (waited < kYieldFor || polls_ % kPollsBetweenNaps != 0) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kEagerPolls = 256;
  static constexpr std::uint64_t kPollsBetweenNaps = 64;
  static constexpr std::chrono::milliseconds kYieldFor{10};
  static constexpr std::chrono::microseconds kNap{50};

  std::chrono::milliseconds timeout_;
  std::uint64_t polls_ = 0;
  Clock::time_point
      start_;  // When the eager polls ended: reading the clock costs as much as a poll.
};

}  // namespace steptape::mpi::detail
