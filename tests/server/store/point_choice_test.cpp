// SPDX-License-Identifier: Apache-2.0
#include "server/store/point_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "steptape/events/plugin_content.h"

#include "server/store/served_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Indices = std::vector<std::size_t>;
using Values = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::size_t kMany = 100'000;

TagPoints pointsOf(const Values& values, const std::vector<std::int64_t>& steps = {}) {
  ScalarColumns columns;
  for (std::size_t i = 0; i < values.size(); ++i) {
    columns.wallTimes.push_back(static_cast<double>(i));
    columns.steps.push_back(steps.empty() ? static_cast<std::int64_t>(i) : steps[i]);
    columns.values.push_back(values[i]);
  }
  TagPoints points;
  points.plugin = event::kScalarsPlugin;
  points.scalars.append(columns);
  return points;
}

/// Expects what each choice is: no more than asked, ascending, each point once, with the last.
void expectChoice(const Indices& chosen, std::size_t size, std::size_t most) {
  EXPECT_LE(chosen.size(), most);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_TRUE(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
  if (most > 0) {
    ASSERT_FALSE(chosen.empty());
    EXPECT_EQ(chosen.back(), size - 1);
  }
  if (most > 1) {
    EXPECT_EQ(chosen.front(), 0U);
  }
}

Indices choose(const TagPoints& points, std::size_t most) {
  const TagView tag("loss", &points, nullptr);
  Indices chosen = chooseScalars(tag, most);
  expectChoice(chosen, tag.size(), most);
  return chosen;
}
Indices chooseEvenlyOf(const TagPoints& points, std::size_t most) {
  const TagView tag("loss", &points, nullptr);
  Indices chosen = chooseEvenly(tag, most);
  expectChoice(chosen, tag.size(), most);
  return chosen;
}

Values noise(std::size_t count) {
  std::minstd_rand random(1);
  Values values(count);
  for (float& value : values) {
    value = static_cast<float>(random() % 1000) / 1000;
  }
  return values;
}

TEST(ChooseScalars, TakesAllOfAsManyAsAsked) {
  const TagPoints points = pointsOf({3, 1, kNan, 2});
  EXPECT_THAT(choose(points, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(choose(points, 5), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(choose(points, std::numeric_limits<std::size_t>::max()), ElementsAre(0, 1, 2, 3));
}

TEST(ChooseScalars, TakesNoneIfNoneIsAskedFor) {
  EXPECT_THAT(choose(pointsOf({3, 1, 2}), 0), IsEmpty());
}

TEST(ChooseScalars, TakesTheLastIfOneIsAskedFor) {
  EXPECT_THAT(choose(pointsOf({3, 1, 2}), 1), ElementsAre(2));
  EXPECT_THAT(choose(pointsOf({kNan, 1, kNan}), 1), ElementsAre(2));
}

TEST(ChooseScalars, TakesFirstAndLastIfTwoAreAskedFor) {
  EXPECT_THAT(choose(pointsOf({3, 9, 2}), 2), ElementsAre(0, 2));
  EXPECT_THAT(choose(pointsOf({3, kNan, kNan, 2}), 2), ElementsAre(0, 3));
}

TEST(ChooseScalars, TakesTheGreatestThirdAndTheLeastFourth) {
  const TagPoints points = pointsOf({3, 4, 1, 9, 3, 3});
  EXPECT_THAT(choose(points, 3), ElementsAre(0, 3, 5));
  EXPECT_THAT(choose(points, 4), ElementsAre(0, 2, 3, 5));
}

TEST(ChooseScalars, TakesExactlyAsManyAsAskedIfThereAreMore) {
  const TagPoints points = pointsOf(noise(5000));
  for (const std::size_t most : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 10U, 100U, 999U, 1000U, 4999U}) {
    EXPECT_THAT(choose(points, most), SizeIs(most)) << most;
  }
}

TEST(ChooseScalars, KeepsAPeakOfOnePointWhereverItIs) {
  Values values = noise(kMany);
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{1}, kMany / 3, kMany / 2 + 1, kMany - 2, kMany - 1}) {
    for (const float peak : {1.5F, -0.5F, kInfinity, -kInfinity}) {
      const float usual = std::exchange(values[at], peak);
      const TagPoints points = pointsOf(values);
      EXPECT_THAT(choose(points, 1000), Contains(at)) << at;
      EXPECT_THAT(choose(points, 10), Contains(at)) << at;
      values[at] = usual;
    }
  }
}

TEST(ChooseScalars, KeepsAPeakInEachStretchOfSteps) {
  Values values = noise(kMany);
  Indices peaks;
  for (std::size_t i = 0; i < 100; ++i) {
    peaks.push_back(i * (kMany / 100) + 137);
    values[peaks.back()] = i % 2 == 0 ? 5 + static_cast<float>(i) : -5 - static_cast<float>(i);
  }
  const Indices chosen = choose(pointsOf(values), 1000);
  for (const std::size_t peak : peaks) {
    EXPECT_THAT(chosen, Contains(peak));
  }
}

TEST(ChooseScalars, KeepsEachNaNIfTheyFitIntoHalf) {
  Values values = noise(kMany);
  Indices nans;
  for (std::size_t i = 0; i < 500; ++i) {
    nans.push_back(i * 7 + 1000);
    values[nans.back()] = kNan;
  }
  const Indices chosen = choose(pointsOf(values), 1000);
  EXPECT_TRUE(std::includes(chosen.begin(), chosen.end(), nans.begin(), nans.end()));
}

TEST(ChooseScalars, GivesNaNHalfOfThePlacesAtMost) {
  Values values = noise(10'000);
  for (std::size_t i = 0; i < values.size(); i += 2) {
    values[i] = kNan;
  }
  values[4001] = 77;
  const Indices chosen = choose(pointsOf(values), 100);
  EXPECT_THAT(chosen, SizeIs(100));
  const auto nans = std::count_if(chosen.begin(), chosen.end(),
                                  [&](std::size_t i) { return std::isnan(values[i]); });
  EXPECT_LE(nans, 51);  // with the first, which is NaN too
  EXPECT_GE(nans, 45);
  EXPECT_THAT(chosen, Contains(4001));
}

TEST(ChooseScalars, ThinsOutASeriesOfNaN) {
  for (const std::size_t most : {2U, 3U, 10U, 100U}) {
    EXPECT_GE(choose(pointsOf(Values(1000, kNan)), most).size(), most / 2) << most;
  }
}

TEST(ChooseScalars, KeepsBothInfinities) {
  Values values(10'000, 1);
  values[1234] = kInfinity;
  values[8765] = -kInfinity;
  EXPECT_THAT(choose(pointsOf(values), 10), Contains(1234));
  EXPECT_THAT(choose(pointsOf(values), 10), Contains(8765));
}

TEST(ChooseScalars, SpreadsOverAConstantSeries) {
  const Indices chosen = choose(pointsOf(Values(10'000, 1)), 100);
  EXPECT_THAT(chosen, SizeIs(100));
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    EXPECT_LE(chosen[i] - chosen[i - 1], 10'000U / 10);
  }
}

TEST(ChooseScalars, CopesWithAGapOfABillionSteps) {
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < 5000; ++i) {
    steps.push_back(i < 2500 ? i : i + 1'000'000'000);
  }
  Values values = noise(steps.size());
  values[2000] = 9;
  EXPECT_THAT(choose(pointsOf(values, steps), 100), SizeIs(100));
  EXPECT_THAT(choose(pointsOf(values, steps), 100), Contains(2000));
}

TEST(ChooseScalars, CopesWithTheLeastAndTheGreatestStep) {
  std::vector<std::int64_t> steps{std::numeric_limits<std::int64_t>::min()};
  for (std::int64_t i = 0; i < 100; ++i) {
    steps.push_back(i);
  }
  steps.push_back(std::numeric_limits<std::int64_t>::max());
  Values values(steps.size(), 1);
  values[50] = -3;
  EXPECT_THAT(choose(pointsOf(values, steps), 20), SizeIs(20));
  EXPECT_THAT(choose(pointsOf(values, steps), 20), Contains(50));
}

TEST(ChooseScalars, CopesWithStepsThatADoubleCannotTellApart) {
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < 100; ++i) {
    steps.push_back((std::int64_t{1} << 60) + i);
  }
  EXPECT_THAT(choose(pointsOf(noise(steps.size()), steps), 20), SizeIs(20));
}

TEST(ChooseScalars, SeesThePointsInTheTailOfARun) {
  const TagPoints base = pointsOf(Values(1000, 1));
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 900; i < 2000; ++i) {
    steps.push_back(i);
  }
  Values values(steps.size(), 1);
  values[500] = 8;
  const TagPoints tail = pointsOf(values, steps);
  const TagView tag("loss", &base, &tail);
  const Indices chosen = chooseScalars(tag, 10);
  expectChoice(chosen, 2000, 10);
  EXPECT_THAT(chosen, Contains(1400));
}

TEST(ChooseEvenly, TakesEquallySpacedPoints) {
  EXPECT_THAT(chooseEvenlyOf(pointsOf(Values(101, 1)), 5), ElementsAre(0, 25, 50, 75, 100));
}

TEST(ChooseEvenly, TakesAsManyAsAsked) {
  const TagPoints points = pointsOf(Values(1000, 1));
  EXPECT_THAT(chooseEvenlyOf(points, 0), IsEmpty());
  EXPECT_THAT(chooseEvenlyOf(points, 1), ElementsAre(999));
  EXPECT_THAT(chooseEvenlyOf(points, 2), ElementsAre(0, 999));
  for (const std::size_t most : {3U, 10U, 500U, 999U}) {
    EXPECT_THAT(chooseEvenlyOf(points, most), SizeIs(most));
  }
  EXPECT_THAT(chooseEvenlyOf(points, 1000), SizeIs(1000));
  EXPECT_THAT(chooseEvenlyOf(points, 2000), SizeIs(1000));
}

TEST(ChooseEvenly, TakesEquallySpacedStepsOfUnequallySpacedPoints) {
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < 100; ++i) {
    steps.push_back(i);
  }
  for (std::int64_t i = 1; i <= 9; ++i) {
    steps.push_back(i * 100);
  }
  // The hundred points of the first hundred steps get no more than their share.
  EXPECT_THAT(chooseEvenlyOf(pointsOf(Values(steps.size(), 1), steps), 10),
              ElementsAre(0, 100, 101, 102, 103, 104, 105, 106, 107, 108));
}

TEST(ChooseEvenly, FillsItsPlacesBeforeAGap) {
  EXPECT_THAT(chooseEvenlyOf(pointsOf(Values(5, 1), {0, 1, 2, 3, 1'000'000'000}), 4),
              ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(
      chooseEvenlyOf(
          pointsOf(Values(5, 1), {0, 999'999'997, 999'999'998, 999'999'999, 1'000'000'000}), 4),
      ElementsAre(0, 1, 2, 4));
}

}  // namespace
}  // namespace steptape::detail::server
