// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "steptape/log/aggregate.h"

#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class AggregateScalars : public ::testing::Test {
 protected:
  /// Adds a run with points of step, value and wall time.
  void addRun(const std::vector<std::tuple<std::int64_t, double, double>>& points) {
    ScalarColumns run;
    for (const auto& [step, value, wallTime] : points) {
      run.steps.push_back(step);
      run.values.push_back(value);
      run.wallTimes.push_back(wallTime);
    }
    runs_.push_back(run);
  }
  /// Adds a run for each value, all at one step.
  void addValues(const std::vector<double>& values) {
    for (const double value : values) {
      addRun({{0, value, 0}});
    }
  }

  AggregateSeries aggregate() const {
    std::vector<const ScalarColumns*> columns;
    for (const ScalarColumns& run : runs_) {
      columns.push_back(&run);
    }
    return aggregateScalars(columns, options_);
  }
  AggregatePoint onlyPoint() const {
    const AggregateSeries series = aggregate();
    EXPECT_THAT(series.points, SizeIs(1));
    return series.points.at(0);
  }
  std::vector<std::int64_t> steps() const {
    std::vector<std::int64_t> steps;
    for (const AggregatePoint& point : aggregate().points) {
      steps.push_back(point.step);
    }
    return steps;
  }

  AggregateOptions options_;

 private:
  std::vector<ScalarColumns> runs_;
};

TEST_F(AggregateScalars, ComputesTheStatisticsOfAStep) {
  addValues({2, 4, 4, 10});
  const AggregatePoint point = onlyPoint();
  EXPECT_EQ(point.runs, 4U);
  EXPECT_DOUBLE_EQ(point.mean, 5);
  EXPECT_DOUBLE_EQ(point.std, std::sqrt((9 + 1 + 1 + 25) / 3.0));
  EXPECT_DOUBLE_EQ(point.min, 2);
  EXPECT_DOUBLE_EQ(point.max, 10);
  EXPECT_THAT(point.percentiles, ElementsAre(3.5, 4, 5.5));
}

TEST_F(AggregateScalars, TakesTheMeanForTheCenter) {
  addValues({2, 4, 4, 10});
  EXPECT_EQ(onlyPoint().center, onlyPoint().mean);
}

TEST_F(AggregateScalars, ComputesTheMeanOfTheMiddleHalf) {
  options_.center = AggregateCenter::kInterquartileMean;
  addValues({100, 2, 4, 6, -50});
  EXPECT_DOUBLE_EQ(onlyPoint().center, 4);  // scipy.stats.trim_mean(..., 0.25)
  addValues({8, 8, 8});
  EXPECT_DOUBLE_EQ(onlyPoint().center, (4 + 6 + 8 + 8) / 4.0);
}

TEST_F(AggregateScalars, ComputesTheConfidenceIntervalOfTheCenter) {
  options_.band = AggregateBand::kConfidence;
  addValues({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const AggregatePoint mean = onlyPoint();
  // Percentiles of the mean of 10 of them: 5.5 -+ 1.96 * 2.872 / sqrt(10).
  EXPECT_NEAR(mean.lower, 3.72, 0.15);
  EXPECT_NEAR(mean.upper, 7.28, 0.15);
  EXPECT_EQ(mean.lower, onlyPoint().lower) << "the random numbers differ";
  options_.center = AggregateCenter::kInterquartileMean;
  const AggregatePoint iqm = onlyPoint();
  EXPECT_LT(iqm.lower, iqm.center);
  EXPECT_GT(iqm.upper, iqm.center);
  EXPECT_NE(iqm.lower, mean.lower);
}

TEST_F(AggregateScalars, HasNoConfidenceInOneRunOrNaN) {
  options_.band = AggregateBand::kConfidence;
  options_.minRuns = 1;
  addValues({3});
  EXPECT_EQ(onlyPoint().center, 3);
  EXPECT_TRUE(std::isnan(onlyPoint().lower));
  addValues({kNaN});
  EXPECT_TRUE(std::isnan(onlyPoint().center));
  EXPECT_TRUE(std::isnan(onlyPoint().upper));
}

TEST_F(AggregateScalars, InterpolatesPercentiles) {
  options_.percentiles = {100, 0, 10, 62.5};
  addValues({5, 1, 3});
  const std::vector<double> percentiles = onlyPoint().percentiles;
  ASSERT_THAT(percentiles, SizeIs(4));
  EXPECT_DOUBLE_EQ(percentiles[0], 5);
  EXPECT_DOUBLE_EQ(percentiles[1], 1);
  EXPECT_DOUBLE_EQ(percentiles[2], 1.4);
  EXPECT_DOUBLE_EQ(percentiles[3], 3.5);
}

TEST_F(AggregateScalars, RefusesAPercentileOutOfRange) {
  addValues({1, 2});
  for (const double percentile : {-1.0, 100.5, kNaN}) {
    options_.percentiles = {percentile};
    test::expectError(ErrorCode::kInvalidArgument, "expected a number from 0 to 100",
                      [this] { aggregate(); });
  }
}

TEST_F(AggregateScalars, LeavesOutStepsThatSomeRunsLack) {
  addRun({{1, 0, 0}, {2, 0, 0}, {4, 0, 0}});
  addRun({{2, 0, 0}, {3, 0, 0}, {4, 0, 0}});
  EXPECT_THAT(steps(), ElementsAre(2, 4));
  EXPECT_EQ(aggregate().stepsLeftOut, 2U);
  EXPECT_EQ(aggregate().steps, 2U);
}

TEST_F(AggregateScalars, TakesStepsThatEnoughRunsHave) {
  options_.minRuns = 2;
  addRun({{1, 1, 0}, {2, 1, 0}, {3, 1, 0}});
  addRun({{1, 3, 0}, {2, 3, 0}});
  addRun({{1, 5, 0}});
  EXPECT_THAT(steps(), ElementsAre(1, 2));
  EXPECT_DOUBLE_EQ(aggregate().points[0].mean, 3);
  EXPECT_DOUBLE_EQ(aggregate().points[1].mean, 2);
}

TEST_F(AggregateScalars, HasNoDeviationOfOneRun) {
  options_.minRuns = 1;
  addValues({7});
  EXPECT_TRUE(std::isnan(onlyPoint().std));
  EXPECT_DOUBLE_EQ(onlyPoint().mean, 7);
}

TEST_F(AggregateScalars, TakesTheLastValueOfAStep) {
  addRun({{1, 1, 0}, {2, 2, 0}, {1, 10, 0}});
  addRun({{2, 4, 0}, {2, 6, 0}, {1, 20, 0}});
  ASSERT_THAT(steps(), ElementsAre(1, 2));
  EXPECT_DOUBLE_EQ(aggregate().points[0].mean, 15);
  EXPECT_DOUBLE_EQ(aggregate().points[1].mean, 4);
}

TEST_F(AggregateScalars, InterpolatesBetweenStepsOnRequest) {
  options_.interpolate = true;
  addRun({{0, 0, 100}, {10, 1, 200}});
  addRun({{0, 0, 100}, {5, 4, 130}, {10, 8, 140}});
  ASSERT_THAT(steps(), ElementsAre(0, 5, 10));
  const AggregatePoint middle = aggregate().points[1];
  EXPECT_DOUBLE_EQ(middle.mean, (0.5 + 4) / 2);
  EXPECT_DOUBLE_EQ(middle.wallTime, (150 + 130) / 2.0);
}

TEST_F(AggregateScalars, ExtendsNoRun) {
  options_.interpolate = true;
  addRun({{0, 0, 0}, {10, 0, 0}, {20, 0, 0}});
  addRun({{5, 0, 0}, {15, 0, 0}});
  EXPECT_THAT(steps(), ElementsAre(5, 10, 15));
  EXPECT_EQ(aggregate().stepsLeftOut, 2U);
}

TEST_F(AggregateScalars, InterpolatesAcrossTheWholeRangeOfSteps) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  options_.interpolate = true;
  addRun({{kLeast, 0, 0}, {kMost, 2, 0}});
  addRun({{kLeast, 0, 0}, {0, 1, 0}, {kMost, 2, 0}});
  ASSERT_THAT(steps(), ElementsAre(kLeast, 0, kMost));
  EXPECT_DOUBLE_EQ(aggregate().points[1].mean, 1);
}

TEST_F(AggregateScalars, AveragesWallTimes) {
  addRun({{0, 0, 1000}});
  addRun({{0, 0, 3000}});
  EXPECT_DOUBLE_EQ(onlyPoint().wallTime, 2000);
}

TEST_F(AggregateScalars, HidesNoNaN) {
  addValues({1, kNaN, 3});
  const AggregatePoint point = onlyPoint();
  for (const double value : {point.mean, point.std, point.min, point.max, point.percentiles[1]}) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_EQ(point.runs, 3U);
}

TEST_F(AggregateScalars, PassesInfinitiesThrough) {
  options_.percentiles = {50, 100};
  addValues({1, 2, kInfinity});
  const AggregatePoint point = onlyPoint();
  EXPECT_EQ(point.mean, kInfinity);
  EXPECT_EQ(point.min, 1);
  EXPECT_EQ(point.max, kInfinity);
  EXPECT_THAT(point.percentiles, ElementsAre(2, kInfinity));
}

TEST_F(AggregateScalars, OfNoCommonStepAreEmpty) {
  addRun({{1, 0, 0}});
  addRun({{2, 0, 0}});
  EXPECT_THAT(aggregate().points, IsEmpty());
}

}  // namespace
}  // namespace steptape
