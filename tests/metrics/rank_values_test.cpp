// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/rank_values.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape::detail::metrics {
namespace {

/// Returns the values in the form in which ranks send them, one metric each.
std::vector<RankValue> gathered(const std::vector<double>& values,
                                const std::vector<double>& weights) {
  std::vector<std::string> bytesByRank(values.size());
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    appendRankValue(bytesByRank[rank],
                    MetricMoments::of(values[rank], weights[rank], static_cast<int>(rank)));
  }
  std::vector<RankValue> found;
  rankValuesAt(bytesByRank, 0, found);
  return found;
}

std::vector<double> percentiles(const std::vector<RankValue>& values,
                                const std::vector<double>& percents) {
  std::vector<double> found;
  for (const double percent : percents) {
    found.push_back(percentileOf(values, percent));
  }
  return found;
}

const std::vector<double> kValues{7, 1, 3, 9, 5, 2, 8};
const std::vector<double> kPercents{0, 10, 25, 50, 75, 90, 99, 100};

// Golden values of the percentiles: numpy.percentile(values, percents, method="inverted_cdf",
// weights=weights), numpy 2.4.6.

TEST(RankPercentiles, AreThoseOfNumpy) {
  EXPECT_EQ(percentiles(gathered(kValues, std::vector<double>(7, 1)), kPercents),
            (std::vector<double>{1, 1, 2, 5, 8, 9, 9, 9}));
}

TEST(RankPercentiles, CountARankByItsWeight) {
  EXPECT_EQ(percentiles(gathered(kValues, {1, 2, 0.5, 4, 1, 3, 1.5}), kPercents),
            (std::vector<double>{1, 1, 2, 5, 9, 9, 9, 9}));
}

TEST(RankPercentiles, OfTenRanksAreValuesOfARank) {
  EXPECT_EQ(percentiles(gathered({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, std::vector<double>(10, 1)),
                        {10, 50, 90, 99}),
            (std::vector<double>{1, 5, 9, 10}));
}

TEST(RankPercentiles, LeaveOutRanksWithoutAValue) {
  EXPECT_EQ(percentileOf(gathered({100, 2, 3}, {0, 1, 1}), 100), 3);
}

TEST(RankPercentiles, AreNanIfOneValueIsNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(percentileOf(gathered({nan, 1, 2}, {1, 1, 1}), 0)));
}

TEST(RankPercentiles, PropagateInfinities) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(percentiles(gathered({infinity, 1, -infinity}, {1, 1, 1}), {0, 50, 100}),
            (std::vector<double>{-infinity, 1, infinity}));
}

TEST(RankValues, AreTheMeansOfWhatEachRankQueued) {
  MetricMoments twoValues = MetricMoments::of(1, 3, 0);
  twoValues.merge(MetricMoments::of(5, 1, 0));
  std::string bytes;
  appendRankValue(bytes, twoValues);
  std::vector<RankValue> values;
  rankValuesAt({bytes}, 0, values);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].value, 2);
  EXPECT_EQ(values[0].weight, 4);
}

TEST(RankValues, RefuseARankThatSentFewerMetrics) {
  std::string bytes;
  appendRankValue(bytes, MetricMoments::of(1, 1, 0));
  std::vector<RankValue> values;
  test::expectError(ErrorCode::kRankMismatch,
                    "reduce: rank 1: got 0 bytes of values; expected at least 16", [&] {
                      rankValuesAt({bytes, ""}, 0, values);
                    });
}

}  // namespace
}  // namespace steptape::detail::metrics
