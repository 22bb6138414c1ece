// SPDX-License-Identifier: Apache-2.0
#include "values/charts/decimate.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::figure {
namespace {

using ::testing::Pair;

std::vector<std::pair<double, double>> pairs(const std::vector<Point>& points) {
  std::vector<std::pair<double, double>> pairs;
  for (const Point& point : points) {
    pairs.emplace_back(point.x, point.y);
  }
  return pairs;
}

TEST(DecimatedLine, KeepsALineOfOnePointPerColumn) {
  const std::vector<Point> line{{0, 5}, {1, 6}, {2, 4}};
  EXPECT_EQ(pairs(decimatedLine(line)), pairs(line));
}

TEST(DecimatedLine, KeepsFirstLowestHighestAndLastOfAColumnInTheirOrder) {
  EXPECT_THAT(pairs(decimatedLine({{0, 5}, {0.1, 6}, {0.2, 9}, {0.3, 5}, {0.4, 1}, {0.5, 4}})),
              ::testing::ElementsAre(Pair(0, 5), Pair(0.2, 9), Pair(0.4, 1), Pair(0.5, 4)));
}

TEST(DecimatedLine, KeepsGaps) {
  const std::vector<Point> kept = decimatedLine({{0, 1}, {0.1, NAN}, {0.2, 1}});
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_FALSE(isFinite(kept[1]));
}

TEST(DecimatedLine, BoundsAMillionPointsByTheColumns) {
  std::vector<Point> line;
  for (int i = 0; i < 1000000; ++i) {
    line.push_back({i / 10000.0, std::sin(i * 0.37)});
  }
  EXPECT_LE(decimatedLine(line).size(), 400U);
}

TEST(DistinctPoints, KeepsOnePointPerQuarterOfAPixel) {
  EXPECT_THAT(pairs(distinctPoints({{1, 1}, {1.2, 1.2}, {1.3, 1}, {-1, 1}, {1, -1}})),
              ::testing::ElementsAre(Pair(1, 1), Pair(1.3, 1), Pair(-1, 1), Pair(1, -1)));
}

TEST(DistinctPoints, OmitsPointsWithoutAPosition) {
  EXPECT_THAT(distinctPoints({{NAN, 1}, {1, NAN}}), ::testing::IsEmpty());
}

}  // namespace
}  // namespace steptape::figure
