// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/clock.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/never_destroyed.h"

namespace steptape {
namespace {

class SystemClock final : public Clock {
 public:
  double wallSeconds() const override { return std::chrono::duration<double>(wallTime()).count(); }
  std::int64_t wallNanos() const override { return std::chrono::nanoseconds(wallTime()).count(); }
  std::int64_t steadyNanos() const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }

 private:
  static std::chrono::system_clock::duration wallTime() {
    return std::chrono::system_clock::now().time_since_epoch();
  }
};

double measureNanosPerTick() {
#if defined(__aarch64__)
  std::uint64_t ticksPerSecond;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(ticksPerSecond));
  return 1e9 / static_cast<double>(ticksPerSecond);
#elif defined(__x86_64__)
  // Two readings at least 200 us apart bound the frequency error to about 1e-3; recalibrate()
  // reduces it. Of several readings, the one with the shortest pause between its two clocks is the
  // most exact.
  struct Reading {
    std::uint64_t ticks;
    std::int64_t nanos;
  };
  const auto read = [] {
    Reading best{};
    std::uint64_t shortest = ~std::uint64_t{0};
    for (int attempt = 0; attempt < 5; ++attempt) {
      const std::uint64_t before = readTicks();
      const std::int64_t nanos = Clock::system().steadyNanos();
      const std::uint64_t after = readTicks();
      if (after - before < shortest) {
        shortest = after - before;
        best = {before + shortest / 2, nanos};
      }
    }
    return best;
  };
  const Reading first = read();
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  const Reading second = read();
  return static_cast<double>(second.nanos - first.nanos) /
         static_cast<double>(second.ticks - first.ticks);
#else
  return 1.0;
#endif
}

}  // namespace

Clock::~Clock() = default;

std::int64_t Clock::wallNanos() const {
  const double wall = wallSeconds();
  // Handles whole seconds separately: a double of today's seconds resolves only 256 ns.
  const double whole = std::floor(wall);
  return static_cast<std::int64_t>(whole) * 1'000'000'000 + std::llround((wall - whole) * 1e9);
}

const Clock& Clock::system() {
  // Never destroyed: a writer with static storage may end after it.
  static const detail::base::NeverDestroyed<SystemClock> kClock;
  return *kClock;
}

double TickConverter::nanosPerTick() {
  static const double kNanosPerTick = measureNanosPerTick();
  return kNanosPerTick;
}

TickConverter::TickConverter(const Clock& clock)
    : clock_(&clock),
      nanosPerTick_(nanosPerTick()),
      anchorTicks_(readTicks()),
      anchorWallSeconds_(clock.wallSeconds()) {}

void TickConverter::recalibrate() {
  const std::uint64_t ticks = readTicks();
  const double wall = clock_->wallSeconds();
  const double elapsedTicks = static_cast<double>(ticks - anchorTicks_);
  const double elapsedNanos = (wall - anchorWallSeconds_) * 1e9;
  // After one second or more, the system clock measures the frequency better than the old value
  // does. If somebody set the system clock, the ratio is far off and the old frequency stays.
  if (elapsedTicks * nanosPerTick_ > 1e9) {
    const double measured = elapsedNanos / elapsedTicks;
    if (std::abs(measured / nanosPerTick_ - 1.0) < 0.01) {
      nanosPerTick_ = measured;
    }
  }
  // Times must not decrease when the system clock is set back: continue from the current time.
  anchorWallSeconds_ = std::max(wall, wallSeconds(ticks));
  anchorTicks_ = ticks;
}

double TickConverter::wallSeconds(std::uint64_t ticks) const noexcept {
  const auto elapsed = static_cast<std::int64_t>(ticks - anchorTicks_);
  return anchorWallSeconds_ + static_cast<double>(elapsed) * nanosPerTick_ * 1e-9;
}

double TickConverter::nanosBetween(std::uint64_t from, std::uint64_t to) const noexcept {
  return static_cast<double>(static_cast<std::int64_t>(to - from)) * nanosPerTick_;
}

std::uint64_t TickConverter::ticksIn(std::chrono::nanoseconds nanos) const noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(nanos.count()) / nanosPerTick_);
}

}  // namespace steptape
