// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace steptape::detail::base {

/// Adds up how long something waits, without time in which the process was stopped: by a scheduler
/// that suspends its job, or by a debugger. Whoever waits looks often, so a long time between two
/// looks was no wait: a suspended job would otherwise end by its time limit when it goes on.
///
/// @threads Not thread-safe: one thread at a time.
class RunningTime {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param longestGap What counts at most of the time between two looks.
  explicit RunningTime(Clock::duration longestGap = std::chrono::seconds(1))
      : longestGap_(longestGap) {}

  /// Begins again, from nothing.
  void restart(Clock::time_point now = Clock::now()) {
    last_ = now;
    passed_ = {};
  }
  /// REQUIRES: restart() was called.
  /// @return the time since then.
  Clock::duration look(Clock::time_point now = Clock::now()) {
    passed_ += std::min(now - last_, longestGap_);
    last_ = now;
    return passed_;
  }
  /// Returns the time as of the last look().
  Clock::duration passed() const { return passed_; }

 private:
  Clock::duration longestGap_;
  Clock::time_point last_;
  Clock::duration passed_{};
};

}  // namespace steptape::detail::base
