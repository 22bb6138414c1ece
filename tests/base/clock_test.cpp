// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/clock.h"

#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace steptape {
namespace {

/// A clock whose times the test sets.
class SettableClock final : public Clock {
 public:
  double wallSeconds() const override { return wall; }
  std::int64_t steadyNanos() const override { return 0; }

  double wall = 1e9;
};

TEST(SystemClock, ShowsSecondsSince1970) {
  const double before =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_GE(Clock::system().wallSeconds(), before);
  EXPECT_GT(Clock::system().wallSeconds(), 1.7e9);  // after 2023
}

TEST(SystemClock, ShowsTheSameTimeInNanoseconds) {
  const double before = Clock::system().wallSeconds();
  const std::int64_t nanos = Clock::system().wallNanos();
  const double after = Clock::system().wallSeconds();
  EXPECT_GE(static_cast<double>(nanos) * 1e-9, before - 1e-6);
  EXPECT_LE(static_cast<double>(nanos) * 1e-9, after + 1e-6);
}

TEST(Clock, RoundsItsSecondsToNanosecondsByDefault) {
  SettableClock clock;
  clock.wall = 1.25;
  EXPECT_EQ(clock.wallNanos(), 1'250'000'000);
  clock.wall = -1.25;
  EXPECT_EQ(clock.wallNanos(), -1'250'000'000);
  // Today's neighboring doubles stay distinct.
  clock.wall = 1.7e9 + 0x1p-22;
  EXPECT_EQ(clock.wallNanos(), 1'700'000'000'000'000'238);
}

TEST(SystemClock, NeverDecreases) {
  std::int64_t last = Clock::system().steadyNanos();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = Clock::system().steadyNanos();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ReadTicks, Grows) {
  const std::uint64_t before = readTicks();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(readTicks(), before);
}

TEST(TickConverter, StartsAtTheTimeOfItsClock) {
  const SettableClock clock;
  const TickConverter converter(clock);
  EXPECT_NEAR(converter.wallSeconds(readTicks()), 1e9, 60);
}

TEST(TickConverter, CountsOnWithTheTicks) {
  const SettableClock clock;
  const TickConverter converter(clock);
  const std::uint64_t start = readTicks();
  const std::uint64_t later = start + converter.ticksIn(std::chrono::seconds(10));
  EXPECT_NEAR(converter.wallSeconds(later) - converter.wallSeconds(start), 10, 1e-6);
  EXPECT_NEAR(converter.nanosBetween(start, later), 1e10, 1e3);
}

TEST(TickConverter, CountsBackBeforeItsStart) {
  const SettableClock clock;
  const TickConverter converter(clock);
  const std::uint64_t start = readTicks();
  const std::uint64_t earlier = start - converter.ticksIn(std::chrono::seconds(1));
  EXPECT_LT(converter.wallSeconds(earlier), converter.wallSeconds(start));
  EXPECT_NEAR(converter.nanosBetween(start, earlier), -1e9, 1e3);
}

TEST(TickConverter, FollowsAClockThatWasSetForward) {
  SettableClock clock;
  TickConverter converter(clock);
  clock.wall += 3600;
  converter.recalibrate();
  EXPECT_NEAR(converter.wallSeconds(readTicks()), 1e9 + 3600, 60);
}

TEST(TickConverter, NeverTakesTimeBackWhenItsClockWasSetBack) {
  SettableClock clock;
  TickConverter converter(clock);
  const std::uint64_t ticks = readTicks();
  const double before = converter.wallSeconds(ticks);
  clock.wall -= 3600;
  converter.recalibrate();
  EXPECT_GE(converter.wallSeconds(readTicks()), before);
}

// The bound is wide because the thread may be interrupted between two readings.
TEST(TickConverter, AgreesWithTheSystemClock) {
  TickConverter converter;
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    converter.recalibrate();
    EXPECT_NEAR(converter.wallSeconds(readTicks()), Clock::system().wallSeconds(), 5);
  }
}

TEST(TickConverter, MeasuresAPlausibleFrequency) {
  EXPECT_GT(TickConverter::nanosPerTick(), 0.1);   // 10 GHz
  EXPECT_LT(TickConverter::nanosPerTick(), 1000);  // 1 MHz
  EXPECT_EQ(TickConverter::nanosPerTick(), TickConverter::nanosPerTick());
}

}  // namespace
}  // namespace steptape
