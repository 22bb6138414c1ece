// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/value_axis.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "tools/steptape/charts/tick_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::tools {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> labelsOf(const Axis& axis) {
  std::vector<std::string> labels;
  for (const Tick& tick : axis.ticks()) {
    labels.push_back(tick.label);
  }
  return labels;
}

std::vector<std::string> labels(AxisKind kind, double min, double max, int mostTicks) {
  return labelsOf(Axis(kind, min, max, mostTicks));
}

/// Times of day are local; here in UTC on every machine.
class TimeAxis : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

TEST(Axis, NamesRoundNumbers) {
  EXPECT_THAT(labels(AxisKind::kNumbers, 0.0068, 1, 5),
              ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labels(AxisKind::kNumbers, -1, 1, 5), ElementsAre("-1.0", "-0.5", "0", "0.5", "1.0"));
  EXPECT_THAT(labels(AxisKind::kNumbers, 2.14, 2.35, 2), ElementsAre("2.2", "2.3"));
}

TEST(Axis, AbbreviatesHugeAndTinyNumbers) {
  EXPECT_THAT(labels(AxisKind::kNumbers, 0, 2e6, 5),
              ElementsAre("0", "0.5M", "1.0M", "1.5M", "2.0M"));
  EXPECT_THAT(labels(AxisKind::kNumbers, 0, 1e-5, 3), ElementsAre("0", "0.5e-5", "1.0e-5"));
  EXPECT_THAT(labels(AxisKind::kNumbers, 0, 3e20, 4), ElementsAre("0", "1e20", "2e20", "3e20"));
}

TEST(Axis, ExtendsToANearbyRoundNumber) {
  const Axis axis(AxisKind::kSteps, 3, 999, 6);
  EXPECT_EQ(axis.min(), 0);
  EXPECT_EQ(axis.max(), 1000);
}

TEST(Axis, EndsAtTheValuesIfNoRoundNumberIsNear) {
  const Axis axis(AxisKind::kNumbers, 0.3, 2.7, 2);
  EXPECT_EQ(axis.min(), 0.3);
  EXPECT_EQ(axis.max(), 2.7);
  EXPECT_THAT(labelsOf(axis), ElementsAre("1", "2"));
}

TEST(Axis, CountsStepsInWholeNumbers) {
  EXPECT_THAT(labels(AxisKind::kSteps, 0, 2, 9), ElementsAre("0", "1", "2"));
  EXPECT_THAT(labels(AxisKind::kSteps, 0, 300'000, 4), ElementsAre("0", "100k", "200k", "300k"));
}

TEST(Axis, MakesRoomAroundASingleNumber) {
  EXPECT_THAT(labels(AxisKind::kSteps, 7, 7, 5), ElementsAre("6", "7", "8"));
  const Axis axis(AxisKind::kNumbers, 0.9, 0.9, 5);
  EXPECT_DOUBLE_EQ(axis.positionOf(0.9), 0.5);
  EXPECT_THAT(labels(AxisKind::kNumbers, 0, 0, 5), ElementsAre("-1.0", "-0.5", "0", "0.5", "1.0"));
}

TEST(Axis, MakesRoomAroundAStepBeyondThePrecisionOfDoubles) {
  const double step = 9e18;
  const Axis axis(AxisKind::kSteps, step, step, 5);
  EXPECT_LT(axis.min(), step);
  EXPECT_GT(axis.max(), step);
  EXPECT_LE(axis.ticks().size(), 5U);
}

TEST(Axis, ReturnsThePositionOfANumber) {
  const Axis linear(AxisKind::kNumbers, 0, 10, 5);
  EXPECT_DOUBLE_EQ(linear.positionOf(2.5), 0.25);
  const Axis logarithmic(AxisKind::kLogarithmic, 0.01, 100, 5);
  EXPECT_DOUBLE_EQ(logarithmic.positionOf(1), 0.5);
}

TEST(Axis, NamesPowersOfTenIfLogarithmic) {
  EXPECT_THAT(labels(AxisKind::kLogarithmic, 1e-6, 1, 9),
              ElementsAre("1e-6", "1e-5", "1e-4", "0.001", "0.01", "0.1", "1"));
  EXPECT_THAT(labels(AxisKind::kLogarithmic, 1e-6, 1, 4), ElementsAre("1e-6", "1e-4", "0.01", "1"));
  EXPECT_THAT(labels(AxisKind::kLogarithmic, 0.1, 10, 9),
              ElementsAre("0.1", "0.2", "0.5", "1", "2", "5", "10"));
}

TEST(Axis, NamesRoundNumbersWithinOnePowerOfTen) {
  EXPECT_THAT(labels(AxisKind::kLogarithmic, 2.1, 2.6, 6),
              ElementsAre("2.1", "2.2", "2.3", "2.4", "2.5", "2.6"));
}

TEST(Axis, CoversEveryFiniteDouble) {
  const double largest = std::numeric_limits<double>::max();
  const double smallest = std::numeric_limits<double>::denorm_min();
  for (const AxisKind kind : {AxisKind::kNumbers, AxisKind::kLogarithmic, AxisKind::kSteps}) {
    const bool isLogarithmic = kind == AxisKind::kLogarithmic;
    for (const double min : {isLogarithmic ? smallest : -largest, 1.0, smallest, largest}) {
      for (const double max : {min, largest}) {
        for (const int mostTicks : {2, 7}) {
          const Axis axis(kind, min, max, mostTicks);
          EXPECT_LT(axis.min(), axis.max()) << min << " to " << max;
          EXPECT_TRUE(std::isfinite(axis.min()) && std::isfinite(axis.max()));
          EXPECT_LE(axis.ticks().size(), static_cast<std::size_t>(mostTicks) + 2);
          for (const double value : {min, max}) {
            EXPECT_GE(axis.positionOf(value), 0) << min << " to " << max;
            EXPECT_LE(axis.positionOf(value), 1) << min << " to " << max;
          }
        }
      }
    }
  }
}

TEST(Axis, CountsDurationsInMinutesAndHours) {
  EXPECT_THAT(labels(AxisKind::kDurations, 0, 0.4, 5),
              ElementsAre("0", "0.1s", "0.2s", "0.3s", "0.4s"));
  EXPECT_THAT(labels(AxisKind::kDurations, 0, 170, 6),
              ElementsAre("0", "30s", "1m", "1m30s", "2m", "2m30s", "3m"));
  EXPECT_THAT(labels(AxisKind::kDurations, 0, 5 * 3600, 6),
              ElementsAre("0", "1h", "2h", "3h", "4h", "5h"));
  EXPECT_THAT(labels(AxisKind::kDurations, 0, 4 * 86'400, 5),
              ElementsAre("0", "1d", "2d", "3d", "4d"));
}

// 1795268368 is 2026-11-21 13:39:28 UTC, by date(1).
TEST_F(TimeAxis, NamesTimesOfDay) {
  EXPECT_THAT(labels(AxisKind::kWallTimes, 1795268368, 1795268368 + 3600, 4),
              ElementsAre("13:45", "14:00", "14:15", "14:30", "14:45"));
  EXPECT_THAT(labels(AxisKind::kWallTimes, 1795268368, 1795268368 + 4, 5),
              ElementsAre("13:39:28", "13:39:29", "13:39:30", "13:39:31", "13:39:32"));
}

TEST_F(TimeAxis, NamesDaysToo) {
  EXPECT_THAT(labels(AxisKind::kWallTimes, 1795268368, 1795268368 + 86'400, 3),
              ElementsAre("11-21 12:00", "11-22 00:00", "11-22 12:00"));
  EXPECT_THAT(labels(AxisKind::kWallTimes, 1795268368, 1795268368 + 4 * 86'400, 4),
              ElementsAre("2026-11-22", "2026-11-23", "2026-11-24", "2026-11-25"));
}

TEST_F(TimeAxis, FallsOnLocalHours) {
  ::setenv("TZ", "Asia/Kolkata", 1);  // 5:30 ahead
  ::tzset();
  EXPECT_THAT(labels(AxisKind::kWallTimes, 1795268368, 1795268368 + 3 * 3600, 3),
              ElementsAre("19:00", "20:00", "21:00", "22:00"));
}

TEST_F(TimeAxis, ReturnsTheDayThatAllTimesShare) {
  EXPECT_EQ(commonDate({1795268368, 1795268369}), "2026-11-21");
  EXPECT_EQ(commonDate({1795268368, 1795268368 + 86'400}), "");
}

}  // namespace
}  // namespace steptape::tools
