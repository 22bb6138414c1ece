// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"

namespace steptape::testing {

/// A clock that stands still until a test moves it, so that files are byte-identical in every run.
///
///     auto clock = std::make_shared<steptape::testing::FakeClock>(1700000000.0);
///     steptape::WriterOptions options;
///     options.clock = clock;
///
/// @threads Thread-safe.
class STEPTAPE_EXPORT FakeClock final : public Clock {
 public:
  /// @param wallSeconds Initial wall time in seconds since 1970. The steady time starts at 0.
  explicit FakeClock(double wallSeconds = 0) : wallSeconds_(wallSeconds) {}

  double wallSeconds() const override { return wallSeconds_.load(); }
  std::int64_t steadyNanos() const override { return steadyNanos_.load(); }

  /// Sets the wall time, even to an earlier one, as an administrator or NTP may do. The steady time
  /// does not change.
  void setWallSeconds(double wallSeconds) { wallSeconds_ = wallSeconds; }

  /// Advances both clocks.
  ///
  /// @param duration Not negative: steady time never goes back.
  /// @throws Error(kInvalidArgument) if `duration` is negative.
  void advance(std::chrono::nanoseconds duration);

 private:
  std::atomic<double> wallSeconds_;
  std::atomic<std::int64_t> steadyNanos_{0};
};

}  // namespace steptape::testing
