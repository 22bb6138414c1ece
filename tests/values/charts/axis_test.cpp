// SPDX-License-Identifier: Apache-2.0
#include "values/charts/axis.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::figure {
namespace {

using ::testing::DoubleNear;
using ::testing::Pair;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

AxisData dataOf(const std::vector<double>& values) {
  AxisData data;
  for (const double value : values) {
    data.include(value);
  }
  return data;
}

TEST(AxisData, LeavesAMarginOfATwentieth) {
  EXPECT_THAT(dataOf({0, 10}).limits(AxisScale::kLinear),
              Pair(DoubleNear(-0.5, 1e-12), DoubleNear(10.5, 1e-12)));
}

TEST(AxisData, LeavesNoMarginAtAnEdge) {
  AxisData data = dataOf({10});
  data.includeEdge(0);
  EXPECT_THAT(data.limits(AxisScale::kLinear), Pair(0, DoubleNear(10.5, 1e-12)));
}

TEST(AxisData, LeavesAMarginBeyondAnEdgeThatIsPassed) {
  AxisData data = dataOf({-10});
  data.includeEdge(0);
  EXPECT_THAT(data.limits(AxisScale::kLinear), Pair(DoubleNear(-10.5, 1e-12), 0));
}

TEST(AxisData, IgnoresNonFiniteNumbers) {
  EXPECT_EQ(dataOf({0, kNaN, 10, kInfinity, -kInfinity}).limits(AxisScale::kLinear),
            dataOf({0, 10}).limits(AxisScale::kLinear));
}

TEST(AxisData, IgnoresNumbersThatAreNotPositiveOnALogarithmicAxis) {
  EXPECT_EQ(dataOf({-5, 0, 1, 100}).limits(AxisScale::kLog),
            dataOf({1, 100}).limits(AxisScale::kLog));
}

TEST(AxisData, LeavesTheSameShareFreeOnALogarithmicAxis) {
  const auto [min, max] = dataOf({1, 100}).limits(AxisScale::kLog);
  EXPECT_NEAR(std::log10(min), -0.1, 1e-12);
  EXPECT_NEAR(std::log10(max), 2.1, 1e-12);
}

TEST(AxisData, HasLimitsWithoutData) {
  EXPECT_THAT(AxisData().limits(AxisScale::kLinear), Pair(0, 1));
  EXPECT_THAT(AxisData().limits(AxisScale::kLog), Pair(1, 10));
  EXPECT_THAT(dataOf({-1, -2}).limits(AxisScale::kLog), Pair(1, 10));
}

TEST(AxisData, HasRoomAroundASingleNumber) {
  EXPECT_THAT(dataOf({0}).limits(AxisScale::kLinear), Pair(-0.5, 0.5));
  EXPECT_THAT(dataOf({-20, -20}).limits(AxisScale::kLinear), Pair(-22, -18));
  EXPECT_THAT(dataOf({8}).limits(AxisScale::kLog), Pair(4, 16));
}

TEST(AxisData, HasFiniteLimitsForTheLargestDoubles) {
  const double most = std::numeric_limits<double>::max();
  for (const AxisScale scale : {AxisScale::kLinear, AxisScale::kLog}) {
    const auto [min, max] = dataOf({-most, most, 1}).limits(scale);
    EXPECT_TRUE(std::isfinite(min) && std::isfinite(max) && min < max);
  }
}

TEST(AxisRange, IsLinearUnlessAskedOtherwise) {
  const AxisRange range{10, 30};
  EXPECT_DOUBLE_EQ(range.fraction(10), 0);
  EXPECT_DOUBLE_EQ(range.fraction(15), 0.25);
  EXPECT_DOUBLE_EQ(range.fraction(40), 1.5);
  EXPECT_DOUBLE_EQ(range.value(0.25), 15);
}

TEST(AxisRange, IsLogarithmicOnRequest) {
  const AxisRange range{1, 10000, AxisScale::kLog};
  EXPECT_DOUBLE_EQ(range.fraction(10), 0.25);
  EXPECT_DOUBLE_EQ(range.value(0.75), 1000);
  EXPECT_TRUE(std::isnan(range.fraction(0)));
  EXPECT_TRUE(std::isnan(range.fraction(-1)));
}

TEST(AxisRange, CanRunTheOtherWay) {
  const AxisRange range{0, 4, AxisScale::kLinear, true};
  EXPECT_DOUBLE_EQ(range.fraction(1), 0.75);
  EXPECT_DOUBLE_EQ(range.value(0.75), 1);
}

TEST(Frame, PutsTheOriginAtTheLowerLeft) {
  const Frame frame{{100, 50, 200, 300}, {0, 1}, {0, 1}, 1};
  EXPECT_DOUBLE_EQ(frame.at(0, 0).x, 100);
  EXPECT_DOUBLE_EQ(frame.at(0, 0).y, 350);
  EXPECT_DOUBLE_EQ(frame.at(1, 1).x, 300);
  EXPECT_DOUBLE_EQ(frame.at(1, 1).y, 50);
}

TEST(Frame, ReturnsNoPositionForNonFiniteNumbers) {
  const Frame frame{{0, 0, 100, 100}, {0, 1}, {0, 1}, 1};
  EXPECT_TRUE(std::isnan(frame.pixelX(kInfinity)));
  EXPECT_TRUE(std::isnan(frame.pixelY(-kInfinity)));
  EXPECT_TRUE(std::isnan(frame.pixelY(kNaN)));
}

TEST(Frame, KeepsFarPlacesWithinWhatCairoCanAddress) {
  const Frame frame{{0, 0, 100, 100}, {0, 1}, {0, 1}, 1};
  EXPECT_DOUBLE_EQ(frame.pixelX(1e300), 1e6);
  EXPECT_DOUBLE_EQ(frame.pixelX(-1e300), -1e6);
}

}  // namespace
}  // namespace steptape::figure
