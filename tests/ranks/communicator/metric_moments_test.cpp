// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "steptape/ranks/collective.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

MetricMoments merged(const std::vector<MetricMoments>& parts) {
  MetricMoments result;
  for (const MetricMoments& part : parts) {
    result.merge(part);
  }
  return result;
}

void expectIdentical(const MetricMoments& a, const MetricMoments& b) {
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.weightedSum, b.weightedSum);
  EXPECT_EQ(a.squaredDeviations, b.squaredDeviations);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.maxRank, b.maxRank);
}

TEST(MetricMoments, OfOneValueIsThatValue) {
  const MetricMoments one = MetricMoments::of(2.5, 4, 3);
  EXPECT_EQ(one.mean(), 2.5);
  EXPECT_EQ(one.std(), 0);
  EXPECT_EQ(one.min, 2.5);
  EXPECT_EQ(one.max, 2.5);
  EXPECT_EQ(one.maxRank, 3);
}

TEST(MetricMoments, WeighsTheMeanAndTheDeviation) {
  // Three samples of 1 and one of 5: mean 2, variance (3 * 1 + 9) / 4 = 3.
  const MetricMoments both = merged({MetricMoments::of(1, 3, 0), MetricMoments::of(5, 1, 1)});
  EXPECT_EQ(both.mean(), 2);
  EXPECT_DOUBLE_EQ(both.std(), std::sqrt(3.0));
}

TEST(MetricMoments, KeepsTheDigitsOfASmallSpreadAroundALargeMean) {
  const MetricMoments both =
      merged({MetricMoments::of(1e9 + 1e-3, 1, 0), MetricMoments::of(1e9 - 1e-3, 1, 1)});
  EXPECT_NEAR(both.std(), 1e-3, 1e-7);  // 1e9 has a spacing of 1.2e-7 between doubles.
}

TEST(MetricMoments, AreTheNeutralElementWithoutAValue) {
  const MetricMoments value = MetricMoments::of(7, 2, 5);
  expectIdentical(merged({MetricMoments(), value, MetricMoments()}), value);
}

TEST(MetricMoments, IgnoreNanWithWeightZero) {
  const MetricMoments value = MetricMoments::of(7, 2, 5);
  expectIdentical(merged({value, MetricMoments::of(kNan, 0, 1)}), value);
  EXPECT_EQ(MetricMoments::of(kNan, 0, 1).maxRank, -1);
}

TEST(MetricMoments, MergeCommutesToTheLastBit) {
  const MetricMoments a = merged({MetricMoments::of(0.1, 3, 0), MetricMoments::of(0.7, 1, 2)});
  const MetricMoments b = merged({MetricMoments::of(1e-3, 7, 1), MetricMoments::of(1e5, 11, 3)});
  expectIdentical(merged({a, b}), merged({b, a}));
}

TEST(MetricMoments, NameTheLowestRankThatHadTheMaximum) {
  const MetricMoments a = MetricMoments::of(3, 1, 4);
  const MetricMoments b = MetricMoments::of(3, 1, 2);
  const MetricMoments c = MetricMoments::of(1, 1, 0);
  EXPECT_EQ(merged({a, b, c}).maxRank, 2);
  EXPECT_EQ(merged({c, b, a}).maxRank, 2);
  EXPECT_EQ(merged({a, b, c}).min, 1);
}

TEST(MetricMoments, PropagateNanToEveryStatisticAndNameItsRank) {
  for (const auto& parts : std::vector<std::vector<MetricMoments>>{
           {MetricMoments::of(kNan, 1, 1), MetricMoments::of(9, 1, 0), MetricMoments::of(8, 1, 2)},
           {MetricMoments::of(9, 1, 0), MetricMoments::of(8, 1, 2),
            MetricMoments::of(kNan, 1, 1)}}) {
    const MetricMoments all = merged(parts);
    EXPECT_TRUE(std::isnan(all.mean()));
    EXPECT_TRUE(std::isnan(all.std()));
    EXPECT_TRUE(std::isnan(all.min));
    EXPECT_TRUE(std::isnan(all.max));
    EXPECT_EQ(all.maxRank, 1);
  }
}

TEST(MetricMoments, PropagateInfinityToTheMean) {
  const MetricMoments both =
      merged({MetricMoments::of(kInfinity, 1, 1), MetricMoments::of(1, 1, 0)});
  EXPECT_EQ(both.mean(), kInfinity);
  EXPECT_EQ(both.max, kInfinity);
  EXPECT_EQ(both.min, 1);
  EXPECT_EQ(both.maxRank, 1);
}

}  // namespace
}  // namespace steptape
