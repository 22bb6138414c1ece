// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/clock_offset.h"

#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "steptape/ranks/testing.h"

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::expectError;

/// The machine's time with an error.
class WrongClock final : public Clock {
 public:
  explicit WrongClock(std::int64_t aheadNanos) : aheadNanos_(aheadNanos) {}

  /// Sets the wall clock after this many readings of the steady clock.
  void setAtReading(int reading, std::int64_t aheadNanos) {
    setAt_ = reading;
    aheadNanosThen_ = aheadNanos;
  }

  double wallSeconds() const override { return static_cast<double>(wallNanos()) * 1e-9; }
  std::int64_t wallNanos() const override { return kStart + trueNanos() + aheadNanos_; }
  std::int64_t steadyNanos() const override {
    if (++readings_ == setAt_) {
      aheadNanos_ = aheadNanosThen_;
    }
    // The steady time starts at another moment than the wall time.
    return trueNanos() + aheadNanos0_ / 3;
  }

 private:
  static constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
  static std::int64_t trueNanos() { return Clock::system().steadyNanos(); }

  mutable std::int64_t aheadNanos_;
  const std::int64_t aheadNanos0_ = aheadNanos_;
  std::int64_t aheadNanosThen_ = 0;
  int setAt_ = std::numeric_limits<int>::max();
  mutable int readings_ = 0;
};

class ClockOffsetOnRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ClockOffsetOnRanks, ::testing::Values(1, 2, 3, 7));

void expectWithinBound(const detail::ranks::ClockOffset& offset, std::int64_t trueNanos, int rank) {
  EXPECT_LE(offset.nanos - offset.bound, trueNanos) << "rank " << rank;
  EXPECT_GE(offset.nanos + offset.bound, trueNanos) << "rank " << rank;
}

TEST_P(ClockOffsetOnRanks, IsFoundWithinItsBoundFromMicrosecondsToSeconds) {
  std::mt19937_64 random(GetParam());
  for (const std::int64_t range : {1'000, 1'000'000, 2'000'000'000}) {
    std::vector<std::int64_t> aheadByRank;
    for (int rank = 0; rank < GetParam(); ++rank) {
      aheadByRank.push_back(std::uniform_int_distribution<std::int64_t>(-range, range)(random));
    }
    testing::runRanks(GetParam(), [&](Communicator& world) {
      const std::int64_t ahead = aheadByRank[static_cast<std::size_t>(world.rank())];
      detail::ranks::ClockOffsetOptions options;
      options.clock = std::make_shared<WrongClock>(ahead);
      const std::int64_t before = options.clock->wallNanos();
      const detail::ranks::ClockOffset offset = detail::ranks::estimateClockOffset(world, options);
      expectWithinBound(offset, aheadByRank[0] - ahead, world.rank());
      EXPECT_TRUE(offset.isSteady);
      // By this rank's own clock.
      EXPECT_GE(offset.wallNanos, before);
      EXPECT_LE(offset.wallNanos, options.clock->wallNanos());
    });
  }
}

TEST_P(ClockOffsetOnRanks, IsZeroOnTheRoot) {
  testing::runRanks(GetParam(), [&](Communicator& world) {
    const detail::ranks::ClockOffset offset = detail::ranks::estimateClockOffset(world);
    if (world.isRoot()) {
      EXPECT_EQ(offset.nanos, 0);
      EXPECT_EQ(offset.bound, 0);
    }
  });
}

TEST_P(ClockOffsetOnRanks, IsZeroOnTheRootsNodeWithTheSystemClock) {
  testing::runRanks(GetParam(), [&](Communicator& world) {
    const detail::ranks::ClockOffset offset = detail::ranks::estimateClockOffset(world);
    EXPECT_EQ(offset.nanos, 0) << "rank " << world.rank();
    EXPECT_GE(offset.bound, 0);
  });
}

TEST(ClockOffset, IsExactIfTheClocksStandStill) {
  testing::runRanks(3, [&](Communicator& world) {
    detail::ranks::ClockOffsetOptions options;
    options.clock = std::make_shared<testing::FakeClock>(1.7e9 + 0.5 * world.rank());
    const detail::ranks::ClockOffset offset = detail::ranks::estimateClockOffset(world, options);
    EXPECT_EQ(offset.nanos, -500'000'000 * world.rank());
    EXPECT_EQ(offset.bound, 0);
    EXPECT_EQ(offset.wallNanos, 1'700'000'000'000'000'000 + 500'000'000 * world.rank());
  });
}

TEST_P(ClockOffsetOnRanks, DetectsAClockThatWasSet) {
  const int late = GetParam() - 1;
  for (const int setRank : {0, late}) {
    testing::runRanks(GetParam(), [&](Communicator& world) {
      const auto clock = std::make_shared<WrongClock>(0);
      if (world.rank() == setRank) {
        clock->setAtReading(20, -3'000'000'000);
      }
      detail::ranks::ClockOffsetOptions options;
      options.clock = clock;
      const detail::ranks::ClockOffset offset = detail::ranks::estimateClockOffset(world, options);
      const std::int64_t ahead = world.rank() == setRank ? -3'000'000'000 : 0;
      const std::int64_t rootAhead = setRank == 0 ? -3'000'000'000 : 0;
      expectWithinBound(offset, rootAhead - ahead, world.rank());
      // A single rank reads its clock too briefly to notice.
      EXPECT_EQ(offset.isSteady, world.size() == 1 || (world.rank() != setRank && setRank != 0));
    });
  }
}

TEST(ClockOffset, NeedsARoundAndTheSameNumberOnAllRanks) {
  testing::runRanks(2, [&](Communicator& world) {
    detail::ranks::ClockOffsetOptions options;
    options.rounds = 0;
    expectError(ErrorCode::kInvalidArgument,
                "estimateClockOffset: got 0 rounds; expected at least 1",
                [&] { detail::ranks::estimateClockOffset(world, options); });
    options.rounds = 1 + world.rank();
    expectError(ErrorCode::kRankMismatch, "'clock offset'",
                [&] { detail::ranks::estimateClockOffset(world, options); });
  });
}

detail::ranks::ClockOffset offsetOf(std::int64_t nanos, std::int64_t bound,
                                    std::int64_t wallNanos) {
  detail::ranks::ClockOffset offset;
  offset.nanos = nanos;
  offset.bound = bound;
  offset.wallNanos = wallNanos;
  return offset;
}

TEST(ClockCorrection, LeavesTimesUnchangedWithoutAnOffset) {
  const detail::ranks::ClockCorrection correction;
  EXPECT_EQ(correction.rootNanos(1'700'000'000'123'456'789), 1'700'000'000'123'456'789);
  EXPECT_EQ(correction.bound(), 0);
  EXPECT_TRUE(correction.isSteady());
}

TEST(ClockCorrection, AppliesOneOffsetToAllTimes) {
  const detail::ranks::ClockCorrection correction(offsetOf(-250, 20, 1'000'000));
  EXPECT_EQ(correction.rootNanos(0), -250);
  EXPECT_EQ(correction.rootNanos(1'000'000), 999'750);
  EXPECT_EQ(correction.rootNanos(9'000'000), 8'999'750);
  EXPECT_EQ(correction.bound(), 20);
  EXPECT_TRUE(correction.isSteady());
}

TEST(ClockCorrection, FollowsADriftBetweenStartAndEnd) {
  const std::int64_t start = 1'700'000'000'000'000'000;
  const std::int64_t hour = 3'600'000'000'000;
  const detail::ranks::ClockCorrection correction(offsetOf(5'000'000'000, 900, start),
                                                  offsetOf(5'060'000'000, 700, start + hour));
  EXPECT_EQ(correction.offsetAt(start - hour), 5'000'000'000);
  EXPECT_EQ(correction.offsetAt(start), 5'000'000'000);
  EXPECT_EQ(correction.offsetAt(start + hour / 4), 5'015'000'000);
  EXPECT_EQ(correction.offsetAt(start + hour), 5'060'000'000);
  EXPECT_EQ(correction.offsetAt(start + 2 * hour), 5'060'000'000);
  EXPECT_EQ(correction.bound(), 900);
  EXPECT_TRUE(correction.isSteady());
}

TEST(ClockCorrection, ReportsAClockThatWasSetAndKeepsTheOrderOfTimes) {
  const std::int64_t second = 1'000'000'000;
  const detail::ranks::ClockCorrection forward(offsetOf(0, 100, 0),
                                               offsetOf(-5 * second, 100, 2 * second));
  EXPECT_FALSE(forward.isSteady());
  EXPECT_EQ(forward.rootNanos(second), second);
  EXPECT_EQ(forward.rootNanos(3 * second), 3 * second);
  // Set back so far that the end seems to precede the start.
  EXPECT_FALSE(
      detail::ranks::ClockCorrection(offsetOf(0, 100, second), offsetOf(0, 100, 0)).isSteady());
  detail::ranks::ClockOffset set = offsetOf(0, 100, second);
  set.isSteady = false;
  EXPECT_FALSE(detail::ranks::ClockCorrection(offsetOf(0, 100, 0), set).isSteady());
}

TEST(ClockCorrection, KeepsTheOrderOfTimesForAnyInput) {
  std::mt19937_64 random(3);
  const auto upTo = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  for (int attempt = 0; attempt < 2000; ++attempt) {
    const std::int64_t start = upTo(1000);
    const std::int64_t end = start + upTo(20'000);
    const detail::ranks::ClockCorrection correction(
        offsetOf(upTo(20'000) - 10'000, upTo(20'000), start),
        offsetOf(upTo(20'000) - 10'000, upTo(20'000), end));
    std::int64_t last = correction.rootNanos(0);
    for (std::int64_t time = 1; time < 25'000; time += 1 + upTo(50)) {
      ASSERT_GE(correction.rootNanos(time), last) << attempt << " at " << time;
      last = correction.rootNanos(time);
    }
  }
}

}  // namespace
}  // namespace steptape
