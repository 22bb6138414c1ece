// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/sparkline.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace steptape::tools {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

TEST(Sparkline, HasEightHeights) {
  EXPECT_EQ(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 8, true), "▁▂▃▄▅▆▇█");
}

TEST(Sparkline, HasSevenHeightsInAscii) {
  EXPECT_EQ(sparkline({0, 1, 2, 3, 4, 5, 6}, 7, false), ".:-=+*#");
}

TEST(Sparkline, IsAtMostAsLongAsItsValues) {
  EXPECT_EQ(sparkline({0, 1}, 32, true), "▁█");
  EXPECT_EQ(sparkline({}, 32, true), "");
}

TEST(Sparkline, ShowsMeansIfItIsShorter) {
  EXPECT_EQ(sparkline({0, 0, 3, 4, 7, 7}, 3, true), "▁▅█");
}

TEST(Sparkline, KeepsPeaks) {
  std::vector<double> values(1000, 0.5);
  values[300] = 1;
  values[700] = 0;
  EXPECT_EQ(sparkline(values, 10, true), "▅▅▅█▅▅▅▁▅▅");
}

TEST(Sparkline, IsFlatForAConstant) {
  EXPECT_EQ(sparkline({5, 5, 5}, 3, true), "▄▄▄");
}

TEST(Sparkline, LeavesOutNonFiniteValues) {
  EXPECT_EQ(sparkline({0, kNan, kInfinity, 1}, 4, true), "▁  █");
  EXPECT_EQ(sparkline({0, kNan, -kInfinity, 1}, 2, true), "▁█");
  EXPECT_EQ(sparkline({kNan, kNan}, 2, true), "  ");
}

TEST(Sparkline, DoesNotOverflow) {
  EXPECT_EQ(sparkline({-kLargest, 0, kLargest, kLargest}, 4, true), "▁▅██");
  EXPECT_EQ(sparkline({-kLargest, 0, 0, kLargest, kLargest, kLargest}, 3, true), "▁██");
}

}  // namespace
}  // namespace steptape::tools
