// SPDX-License-Identifier: Apache-2.0
#include "server/store/scalar_series.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr double kNanTime = std::numeric_limits<double>::quiet_NaN();

struct Point {
  double wallTime;
  std::int64_t step;
  double value;
};

void append(ScalarSeries* series, const std::vector<Point>& points) {
  ScalarColumns columns;
  for (const Point& point : points) {
    columns.wallTimes.push_back(point.wallTime);
    columns.steps.push_back(point.step);
    columns.values.push_back(point.value);
  }
  series->append(columns);
}

ScalarSeries seriesOf(const std::vector<Point>& points) {
  ScalarSeries series;
  append(&series, points);
  return series;
}

std::vector<std::pair<std::int64_t, double>> pointsOf(const ScalarSeries& series) {
  std::vector<std::pair<std::int64_t, double>> points;
  for (std::size_t i = 0; i < series.size(); ++i) {
    points.emplace_back(series.step(i), series.value(i));
  }
  return points;
}

TEST(ScalarSeries, KeepsPointsInTheOrderOfTheirSteps) {
  ScalarSeries series = seriesOf({{10, 1, 0.5}, {11, 2, 0.25}});
  append(&series, {{12, 5, 4}});
  EXPECT_THAT(pointsOf(series), ElementsAre(Pair(1, 0.5), Pair(2, 0.25), Pair(5, 4)));
  EXPECT_EQ(series.wallTime(2), 12);
}

TEST(ScalarSeries, DiscardsPointsAtOrAfterALaterPointsStep) {
  ScalarSeries series = seriesOf({{10, 1, 1}, {11, 2, 2}, {12, 3, 3}});
  append(&series, {{20, 2, 20}, {21, 3, 30}});
  EXPECT_THAT(pointsOf(series), ElementsAre(Pair(1, 1), Pair(2, 20), Pair(3, 30)));
}

TEST(ScalarSeries, KeepsTheLastPointOfAStep) {
  EXPECT_THAT(pointsOf(seriesOf({{10, 7, 1}, {11, 7, 2}, {12, 7, 3}})), ElementsAre(Pair(7, 3)));
}

TEST(ScalarSeries, IsReplacedByAPointBeforeAllOthers) {
  EXPECT_THAT(pointsOf(seriesOf({{10, 1, 1}, {11, 2, 2}, {12, -1, 3}})), ElementsAre(Pair(-1, 3)));
}

TEST(ScalarSeries, OmitsOnlyThePointWhoseTimeIsNaN) {
  const ScalarSeries series = seriesOf({{10, 1, 1}, {kNanTime, 2, 2}, {12, 3, 3}});
  EXPECT_THAT(pointsOf(series), ElementsAre(Pair(1, 1), Pair(3, 3)));
}

TEST(ScalarSeries, DiscardsNothingForAPointWhoseTimeIsNaN) {
  EXPECT_THAT(pointsOf(seriesOf({{10, 1, 1}, {11, 2, 2}, {kNanTime, 0, 3}})),
              ElementsAre(Pair(1, 1), Pair(2, 2)));
}

TEST(ScalarSeries, KeepsValuesThatAreNotFinite) {
  const ScalarSeries series = seriesOf({{10, 1, kNanTime}, {11, 2, HUGE_VAL}, {12, 3, 1e300}});
  EXPECT_TRUE(std::isnan(series.value(0)));
  EXPECT_EQ(series.value(1), std::numeric_limits<float>::infinity());
  EXPECT_EQ(series.value(2), std::numeric_limits<float>::infinity());
}

TEST(ScalarSeries, KnowsItsLastTimeIfTimesAscend) {
  ScalarSeries series = seriesOf({{10, 1, 1}, {11, 2, 2}});
  EXPECT_EQ(series.lastWallTime(), 11);
  append(&series, {{11, 3, 3}, {15, 4, 4}});
  EXPECT_EQ(series.lastWallTime(), 15);
}

TEST(ScalarSeries, KnowsItsLastTimeIfClocksWereSetBack) {
  ScalarSeries series = seriesOf({{10, 1, 1}, {50, 2, 2}, {20, 3, 3}});
  EXPECT_EQ(series.lastWallTime(), 50);
  append(&series, {{60, 4, 4}, {55, 5, 5}});
  EXPECT_EQ(series.lastWallTime(), 60);
}

TEST(ScalarSeries, ForgetsTheTimesOfDiscardedPoints) {
  ScalarSeries series = seriesOf({{10, 1, 1}, {50, 2, 2}});
  append(&series, {{20, 2, 2}});
  EXPECT_EQ(series.lastWallTime(), 20);
}

TEST(ScalarSeries, TakesAtMostFourteenBytesPerPointIfStepsAreEquallySpaced) {
  ScalarSeries series;
  for (int batch = 0; batch < 10; ++batch) {
    std::vector<Point> points;
    for (std::int64_t step = batch * 100; step < (batch + 1) * 100; ++step) {
      points.push_back({static_cast<double>(step), 10 * step, 1});
    }
    append(&series, points);
  }
  ASSERT_EQ(series.size(), 1000U);
  EXPECT_LE(series.bytes(), 14U * 1000);
}

TEST(ScalarSeries, FreesItsMemoryWhenItIsCleared) {
  ScalarSeries series = seriesOf({{10, 1, 1}, {11, 2, 2}, {12, 4, 3}});
  series.clear();
  EXPECT_EQ(series.bytes(), 0U);
  append(&series, {{5, 1, 7}});
  EXPECT_THAT(pointsOf(series), ElementsAre(Pair(1, 7)));
  EXPECT_EQ(series.lastWallTime(), 5);
}

TEST(ScalarSeries, TakesNoMoreMemoryForPointsThatItDiscards) {
  ScalarSeries series;
  for (int i = 0; i < 1000; ++i) {
    append(&series, {{1.0 * i, 1, 1}, {1.0 * i, 2, 2}});
  }
  EXPECT_EQ(series.size(), 2U);
  EXPECT_LE(series.bytes(), 1024U);
}

}  // namespace
}  // namespace steptape::detail::server
