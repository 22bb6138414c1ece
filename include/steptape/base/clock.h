// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "steptape/base/export.h"

namespace steptape {

/// The source of wall time and steady time. Every call that reads the time takes a Clock, so that a
/// test can pass its own and get byte-exact files.
///
/// @threads Thread-safe.
class STEPTAPE_EXPORT Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock();

  /// Returns seconds since 1970-01-01 UTC, as in TensorBoard's `wall_time`.
  virtual double wallSeconds() const = 0;

  /// Returns nanoseconds since 1970-01-01 UTC: more exact than wallSeconds(), since a double
  /// resolves about 240 ns today. The default is wallSeconds(), rounded.
  virtual std::int64_t wallNanos() const;

  /// Returns nanoseconds since an arbitrary start; never decreases.
  virtual std::int64_t steadyNanos() const = 0;

  /// Returns the clock of the operating system.
  static const Clock& system();
};

/// Reads the cheapest counter that all cores share: `rdtsc` on x86-64, `cntvct_el0` on AArch64,
/// else the steady clock. TickConverter converts its values to seconds.
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
/// The constructor and recalibrate() calibrate it against a clock. Converted times of increasing
/// ticks never decrease, also across a calibration.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT TickConverter {
 public:
  explicit TickConverter(const Clock& clock = Clock::system());

  /// Calibrates again: refines the frequency and follows clock adjustments. Call it about once a
  /// second.
  void recalibrate();

  /// Returns seconds since 1970-01-01 UTC at `ticks`, accurate to about 1 us.
  double wallSeconds(std::uint64_t ticks) const noexcept;

  /// Returns the nanoseconds between two readings.
  double nanosBetween(std::uint64_t from, std::uint64_t to) const noexcept;

  /// Returns the ticks in `nanos` nanoseconds.
  std::uint64_t ticksIn(std::chrono::nanoseconds nanos) const noexcept;

  /// Returns the nanoseconds per tick with which every converter starts; measured once a process.
  static double nanosPerTick();

 private:
  const Clock* clock_;
  double nanosPerTick_;
  std::uint64_t anchorTicks_;
  double anchorWallSeconds_;
};

}  // namespace steptape
