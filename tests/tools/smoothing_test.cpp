// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/smoothing.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace steptape::tools {
namespace {

/// The results of TensorBoard 2.21's own function, extracted from its page, for kValues.
struct Golden {
  double weight;
  std::vector<double> smoothed;
};

const std::vector<double> kValues{1, 0.5, NAN, 0.25, 2, INFINITY, -1, 0.125};

void expectSame(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << i;
    } else {
      EXPECT_DOUBLE_EQ(got[i], wanted[i]) << i;
    }
  }
}

TEST(Smoothing, EqualsTensorBoards) {
  const std::vector<Golden> goldens{
      {0.6,
       {1, 0.6875, NAN, 0.46428571428571425, 1.1700367647058822, INFINITY, 0.22883414295628024,
        0.1852678571428571}},
      {0.99,
       {1, 0.7487437185929644, NAN, 0.5808221945389054, 0.9409831339415116, INFINITY,
        0.5449445479031404, 0.47318350552100014}},
      {1, {0, 0, NAN, 0, 0, INFINITY, 0, 0}},
  };
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(golden.weight);
    expectSame(smoothed(kValues, golden.weight), golden.smoothed);
  }
}

TEST(Smoothing, WithWeightZeroChangesNothing) {
  expectSame(smoothed(kValues, 0), kValues);
}

TEST(Smoothing, LeavesAConstantAlone) {
  expectSame(smoothed({3, 3, 3}, 0.6), {3, 3, 3});
}

TEST(Smoothing, ClampsTheWeight) {
  expectSame(smoothed({1, 2}, 7), {0, 0});
  expectSame(smoothed({1, 2}, -1), {1, 2});
}

TEST(Smoothing, OfAnEmptySeriesIsEmpty) {
  EXPECT_TRUE(smoothed({}, 0.6).empty());
}

}  // namespace
}  // namespace steptape::tools
