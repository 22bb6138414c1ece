// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/offset_interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace steptape::detail::ranks {
namespace {

TEST(OffsetInterval, IsBoundedByTheOtherOnesEntryAndExit) {
  // This rank's clock is between 1000 - 90 and 1030 - 50 behind: it left at 90, not before the
  // other rank entered at 1000, and entered at 50, not after that rank left at 1030.
  const OffsetInterval interval = offsetInterval({{50, 90}}, {{1000, 1030}});
  EXPECT_EQ(interval.least, 910);
  EXPECT_EQ(interval.greatest, 980);
  EXPECT_TRUE(interval.isSteady);
}

TEST(OffsetInterval, IsAsNarrowAsTheFastestBarriersAllow) {
  const OffsetInterval interval =
      offsetInterval({{0, 500}, {600, 610}, {700, 900}}, {{0, 500}, {602, 608}, {700, 720}});
  EXPECT_EQ(interval.least, 602 - 610);
  EXPECT_EQ(interval.greatest, 608 - 600);
}

TEST(OffsetInterval, AllowsForTheDriftSinceAnEarlierBarrier) {
  const std::int64_t second = 1'000'000'000;
  const OffsetInterval interval =
      offsetInterval({{0, 0}, {second, 3 * second}}, {{0, 0}, {second, 3 * second}});
  // The first barrier bounds the offset to 0; three to five seconds have passed since.
  EXPECT_EQ(interval.greatest, 3 * second / kDriftDivisor);
  EXPECT_EQ(interval.least, -5 * second / kDriftDivisor);
}

TEST(OffsetInterval, IgnoresBarriersBeforeAClockJump) {
  const OffsetInterval interval = offsetInterval({{0, 10}, {20, 30}, {40, 50}, {60, 70}},
                                                 {{0, 10}, {20, 30}, {1040, 1050}, {1062, 1068}});
  EXPECT_FALSE(interval.isSteady);
  EXPECT_EQ(interval.least, 992);
  EXPECT_EQ(interval.greatest, 1008);
}

/// A clock with its own rate.
struct DriftingClock {
  double rate;
  double start;
  std::int64_t at(double time) const {
    return static_cast<std::int64_t>(std::floor(start + rate * time));
  }
};

TEST(OffsetInterval, HoldsTheTrueOffsetWhateverTheTimesAre) {
  std::mt19937_64 random(7);
  const auto within = [&](double least, double greatest) {
    return std::uniform_real_distribution<>(least, greatest)(random);
  };
  for (int attempt = 0; attempt < 5000; ++attempt) {
    const DriftingClock mine{within(0.99955, 1.00045), within(-1e12, 1e12)};
    const DriftingClock other{within(0.99955, 1.00045), within(-1e12, 1e12)};
    const double longestPause = std::pow(10.0, within(1, 9));
    std::vector<BarrierTimes> myRounds;
    std::vector<BarrierTimes> otherRounds;
    double myTime = 0;
    double otherTime = 0;
    const int rounds = std::uniform_int_distribution<>(1, 40)(random);
    for (int round = 0; round < rounds; ++round) {
      const double myEntry = myTime + within(0, longestPause);
      const double otherEntry = otherTime + within(0, longestPause);
      // There are other ranks, too: the last one to arrive may be one of them.
      const double allThere = std::max(myEntry, otherEntry) + within(0, longestPause);
      myTime = allThere + within(0, longestPause);
      otherTime = allThere + within(0, longestPause);
      myRounds.push_back({mine.at(myEntry), mine.at(myTime)});
      otherRounds.push_back({other.at(otherEntry), other.at(otherTime)});
    }
    const OffsetInterval interval = offsetInterval(myRounds, otherRounds);
    const auto offset = static_cast<double>(other.at(myTime) - mine.at(myTime));
    ASSERT_TRUE(interval.isSteady) << attempt;
    ASSERT_LE(static_cast<double>(interval.least), offset + 1) << attempt;
    ASSERT_GE(static_cast<double>(interval.greatest), offset - 1) << attempt;
  }
}

}  // namespace
}  // namespace steptape::detail::ranks
