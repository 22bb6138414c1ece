// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/metric_average.h"

#include <cmath>
#include <limits>
#include <vector>

#include "steptape/ranks/testing.h"

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

class MetricAverage : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, MetricAverage, ::testing::Values(1, 2, 3, 7));

TEST_P(MetricAverage, WeighsByCount) {
  // Rank r has r + 1 samples of value r.
  double sum = 0;
  double count = 0;
  for (int rank = 0; rank < GetParam(); ++rank) {
    sum += rank * (rank + 1);
    count += rank + 1;
  }
  testing::runRanks(GetParam(), [&](Communicator& world) {
    const int samples = world.rank() + 1;
    EXPECT_EQ(metricAverage(world, world.rank() * samples, samples), sum / count);
  });
}

TEST_P(MetricAverage, IsTheSameToTheBitOnEveryRank) {
  std::vector<double> averages(static_cast<std::size_t>(GetParam()));
  testing::runRanks(GetParam(), [&](Communicator& world) {
    averages[static_cast<std::size_t>(world.rank())] =
        metricAverage(world, 0.1 * std::pow(10, world.rank()), 3);
  });
  EXPECT_EQ(averages, std::vector<double>(averages.size(), averages.front()));
}

TEST(MetricAverageOfUnequalShards, SkipsARankWithoutSamples) {
  testing::runRanks(2, [](Communicator& world) {
    EXPECT_EQ(metricAverage(world, world.isRoot() ? 6 : 0, world.isRoot() ? 4 : 0), 1.5);
  });
}

TEST(MetricAverageOfUnequalShards, PropagatesNan) {
  testing::runRanks(2, [](Communicator& world) {
    const double sum = world.isRoot() ? std::numeric_limits<double>::quiet_NaN() : 1.0;
    EXPECT_TRUE(std::isnan(metricAverage(world, sum, 1)));
  });
}

TEST(MetricAverageErrors, ThrowOnEveryRankIfNoRankHadASample) {
  testing::runRanks(3, [](Communicator& world) {
    test::expectError(
        ErrorCode::kRankMismatch,
        "metricAverage: got no sample on any of 3 ranks; expected a sum of counts above 0",
        [&] { metricAverage(world, 1, 0); });
  });
}

TEST(MetricAverageErrors, NameTheRankWithABadCountOnEveryRank) {
  testing::runRanks(3, [](Communicator& world) {
    test::expectError(ErrorCode::kInvalidArgument, "metricAverage: rank 1: got count -1.000000",
                      [&] { metricAverage(world, 1, world.rank() == 1 ? -1 : 1); });
  });
}

TEST(MetricAverageErrors, NameTheRankThatIsInAnotherOperation) {
  testing::runRanks(2, [](Communicator& world) {
    if (world.isRoot()) {
      test::expectError(ErrorCode::kRankMismatch, "rank 1 is in another operation: got 5 bytes",
                        [&] { metricAverage(world, 1, 1); });
    } else {
      EXPECT_EQ(world.allgather("hello").size(), 2U);
    }
  });
}

}  // namespace
}  // namespace steptape
