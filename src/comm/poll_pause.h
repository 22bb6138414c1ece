// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <sched.h>
#include <thread>

namespace steptape::detail {

/// What to do between two looks at something that another rank does, and whether its time is over.
///
/// Three phases. What ranks in step do takes microseconds, so first nothing is done. Then the core
/// is yielded: with more ranks than cores the rank that we wait for may need this one. After 10 ms
/// we wait for a straggler; sleeping leaves it the core, in short naps with bursts of looks between
/// them, because MPI moves a large message only while it is polled.
class PollPause {
 public:
  using Duration = std::chrono::steady_clock::duration;

  explicit PollPause(std::chrono::milliseconds timeout) : timeout_(timeout) {}

  /// @return false if the time is over.
  bool next() {
    hasNapped_ = false;
    ++polls_;
    if (polls_ < kEagerPolls) {
      return true;
    }
    const auto now = Clock::now();
    if (polls_ == kEagerPolls) {
      start_ = now;
    }
    waited_ = now - start_;
    if (waited_ > timeout_) {
      return false;
    }
    if (waited_ < kYieldFor || polls_ % kPollsBetweenNaps != 0) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(kNap);
      hasNapped_ = true;
    }
    return true;
  }

  /// Whether next() has slept: there is time now for what a short wait can do without.
  bool hasNapped() const { return hasNapped_; }
  /// Since the eager looks ended, as of the last next().
  Duration waited() const { return waited_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kEagerPolls = 256;
  static constexpr std::uint64_t kPollsBetweenNaps = 64;
  static constexpr std::chrono::milliseconds kYieldFor{10};
  static constexpr std::chrono::microseconds kNap{50};

  std::chrono::milliseconds timeout_;
  std::uint64_t polls_ = 0;
  // When the eager looks ended: reading the clock costs as much as a look.
  Clock::time_point start_;
  Duration waited_{};
  bool hasNapped_ = false;
};

}  // namespace steptape::detail
