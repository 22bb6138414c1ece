// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "steptape/base/export.h"

namespace steptape {

/// Where the library reads the time. A parameter wherever time is read, so that tests can give
/// their own and get byte-exact files.
///
/// @threads Thread-safe.
class STEPTAPE_EXPORT Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock();

  /// Seconds since 1970-01-01 UTC, as TensorBoard's `wall_time`.
  virtual double wallSeconds() const = 0;

  /// The same in nanoseconds, which a double cannot tell apart today: it knows steps of 240 of
  /// them. What a clock does not override is wallSeconds(), rounded.
  virtual std::int64_t wallNanos() const;

  /// Nanoseconds from an arbitrary start, never going back.
  virtual std::int64_t steadyNanos() const = 0;

  /// The system's clocks.
  static const Clock& system();
};

/// Reads the cheapest counter that all cores share: `rdtsc` on x86-64, `cntvct_el0` on AArch64 and
/// the steady clock elsewhere. Turn its values into seconds with a TickConverter.
///
/// @cost One instruction, about 10 ns on current x86-64 virtual machines.
inline std::uint64_t readTicks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // <x86intrin.h>, which wraps it, takes half a second to compile.
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Converts ticks of readTicks() to wall and steady time.
///
/// Calibrated against the system's clocks when constructed and again by recalibrate(), each time
/// without a step back: converted times of growing ticks never decrease.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT TickConverter {
 public:
  explicit TickConverter(const Clock& clock = Clock::system());

  /// Takes a new reading of the clock, which sharpens the frequency and follows an adjusted clock.
  /// Call it now and then, such as once a second.
  void recalibrate();

  /// Seconds since 1970 at `ticks`, to about a microsecond.
  double wallSeconds(std::uint64_t ticks) const noexcept;

  /// Nanoseconds between two readings.
  double nanosBetween(std::uint64_t from, std::uint64_t to) const noexcept;

  /// Ticks in `nanos` nanoseconds.
  std::uint64_t ticksIn(std::chrono::nanoseconds nanos) const noexcept;

  /// Nanoseconds per tick that every converter of this process starts with, measured once.
  static double nanosPerTick();

 private:
  const Clock* clock_;
  double nanosPerTick_;
  std::uint64_t anchorTicks_;
  double anchorWallSeconds_;
};

}  // namespace steptape
