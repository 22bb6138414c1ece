// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"

namespace steptape::testing {

/// A clock that stands still until a test moves it, so that files come out the same to the byte.
///
///     auto clock = std::make_shared<steptape::testing::FakeClock>(1700000000.0);
///     steptape::WriterOptions options;
///     options.clock = clock;
///
/// @threads Thread-safe.
class STEPTAPE_EXPORT FakeClock final : public Clock {
 public:
  /// @param wallSeconds Seconds since 1970 to begin with; the steady time begins with 0.
  explicit FakeClock(double wallSeconds = 0) : wallSeconds_(wallSeconds) {}

  double wallSeconds() const override { return wallSeconds_.load(); }
  std::int64_t steadyNanos() const override { return steadyNanos_.load(); }

  /// Sets the wall time, also to an earlier one, as an administrator or NTP does; the steady time
  /// stays.
  void setWallSeconds(double wallSeconds) { wallSeconds_ = wallSeconds; }

  /// Lets time pass on both clocks.
  ///
  /// @param duration Not negative: steady time never goes back.
  /// @throws Error(kInvalidArgument) if it is negative.
  void advance(std::chrono::nanoseconds duration);

 private:
  std::atomic<double> wallSeconds_;
  std::atomic<std::int64_t> steadyNanos_{0};
};

}  // namespace steptape::testing
