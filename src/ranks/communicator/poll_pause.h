// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <sched.h>
#include <thread>

#include "base/running_time.h"

namespace steptape::detail::ranks {

/// Pauses between polls for an event on another rank, and checks the timeout.
///
/// There are three phases. Ranks in step need only microseconds, so there is no pause at first.
/// Then each pause yields the core: with more ranks than cores, the other rank may need it. After
/// 10 ms the other rank is a straggler: short sleeps leave the core to it, with bursts of polls
/// between them, because MPI moves a large message only while it is polled.
class PollPause {
 public:
  using Duration = std::chrono::steady_clock::duration;

  explicit PollPause(std::chrono::milliseconds timeout) : timeout_(timeout) {}

  /// Pauses.
  /// @return false after the timeout.
  bool next() {
    hasNapped_ = false;
    ++polls_;
    if (polls_ < kEagerPolls) {
      return true;
    }
    if (polls_ == kEagerPolls) {
      time_.restart();
    }
    const Duration waited = time_.look();
    if (waited > timeout_) {
      return false;
    }
    if (waited < kYieldFor || polls_ % kPollsBetweenNaps != 0) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(kNap);
      hasNapped_ = true;
    }
    return true;
  }

  /// Returns whether next() has slept. From then on, there is time for work that a short wait must
  /// avoid.
  bool hasNapped() const { return hasNapped_; }
  /// Returns the time since the first phase ended, as of the last next(), without time in which
  /// this process was stopped.
  Duration waited() const { return time_.passed(); }

 private:
  static constexpr std::uint64_t kEagerPolls = 256;
  static constexpr std::uint64_t kPollsBetweenNaps = 64;
  static constexpr std::chrono::milliseconds kYieldFor{10};
  static constexpr std::chrono::microseconds kNap{50};

  std::chrono::milliseconds timeout_;
  std::uint64_t polls_ = 0;
  // From the end of the first phase. That phase does not read the clock, which costs as much as a
  // poll.
  base::RunningTime time_;
  bool hasNapped_ = false;
};

}  // namespace steptape::detail::ranks
