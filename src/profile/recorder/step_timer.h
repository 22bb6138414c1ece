// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "steptape/base/clock.h"

namespace steptape::detail::profile {

/// Measures the steps of a program, and the profiler's own work between them.
///
/// @threads Not thread-safe: one thread at a time.
class StepTimer {
 public:
  /// Ends a step: the profiler's own work begins.
  void beginOwnWork() { ownStart_ = readTicks(); }
  /// Ends that work: the next step begins.
  void beginStep() {
    stepStart_ = readTicks();
    own_ += stepStart_ - std::exchange(ownStart_, stepStart_);
  }

  /// Returns the duration of the last step that has ended.
  double stepNanos() const { return nanosOf(ownStart_ - stepStart_); }
  /// Returns the duration of the profiler's own work since the last call, that of the recorder's
  /// thread included.
  /// @param threadNanos The CPU time of that thread so far.
  double takeOwnNanos(double threadNanos) {
    return nanosOf(std::exchange(own_, 0)) +
           (threadNanos - std::exchange(threadNanos_, threadNanos));
  }

  static double nanosOf(std::uint64_t ticks) {
    return static_cast<double>(ticks) * TickConverter::nanosPerTick();
  }

 private:
  std::uint64_t stepStart_ = 0;
  std::uint64_t ownStart_ = 0;
  std::uint64_t own_ = 0;  // since takeOwnNanos()
  double threadNanos_ = 0.0;
};

}  // namespace steptape::detail::profile
