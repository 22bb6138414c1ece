// SPDX-License-Identifier: Apache-2.0
#include "log/reader/series_cuts.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>

namespace steptape::detail::log {
namespace {

using ::testing::ElementsAre;

void append(TagSeries* series, std::int64_t step) {
  series->scalars.steps.push_back(step);
  series->scalars.wallTimes.push_back(static_cast<double>(step));
  series->scalars.values.push_back(static_cast<double>(10 * step));
}

TEST(SeriesCuts, DiscardOnlyEarlierPoints) {
  TagSeries series;
  SeriesCuts cuts;
  append(&series, 1);
  append(&series, 2);
  cuts.add(series, 2);
  append(&series, 3);
  cuts.applyTo(&series);
  EXPECT_THAT(series.scalars.steps, ElementsAre(1, 3));
  EXPECT_THAT(series.scalars.wallTimes, ElementsAre(1, 3));
  EXPECT_THAT(series.scalars.values, ElementsAre(10, 30));
}

TEST(SeriesCuts, MoveTheFirstNewPoint) {
  TagSeries series;
  SeriesCuts cuts;
  append(&series, 1);
  append(&series, 5);
  append(&series, 2);
  series.firstNewScalar = 2;
  cuts.add(series, 5);
  append(&series, 6);
  cuts.applyTo(&series);
  EXPECT_THAT(series.scalars.steps, ElementsAre(1, 2, 6));
  EXPECT_EQ(series.firstNewScalar, 1U);
}

TEST(SeriesCuts, DropValuesThatWereFoundToBeScalars) {
  TagSeries series;
  SeriesCuts cuts;
  series.values.resize(2);
  cuts.add(series, 0);
  cuts.valuesAreScalars();
  series.values.clear();
  for (const std::int64_t step : {1, 2, 3}) {
    append(&series, step);
  }
  cuts.applyTo(&series);
  EXPECT_THAT(series.scalars.steps, ElementsAre(3));
}

TEST(SeriesCuts, DropWhatEachOfThemWouldDropAtOnce) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    TagSeries series;
    SeriesCuts cuts;
    std::vector<std::int64_t> expected;
    for (int i = 0; i < 100; ++i) {
      const auto step = static_cast<std::int64_t>(random() % 20);
      if (random() % 4 == 0) {
        cuts.add(series, step);
        expected.erase(std::remove_if(expected.begin(), expected.end(),
                                      [=](std::int64_t each) { return each >= step; }),
                       expected.end());
      } else {
        append(&series, step);
        expected.push_back(step);
      }
    }
    cuts.applyTo(&series);
    ASSERT_THAT(series.scalars.steps, ::testing::ElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace steptape::detail::log
