// SPDX-License-Identifier: Apache-2.0
#include "server/store/step_column.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

using Steps = std::vector<std::int64_t>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
/// One more than the greatest distance of a narrow column.
constexpr std::int64_t kFar = std::int64_t{1} << 32;

Steps stepsOf(const StepColumn& column) {
  Steps steps;
  for (std::size_t i = 0; i < column.size(); ++i) {
    steps.push_back(column[i]);
  }
  Steps same;
  column.forEach(column.size(), [&](std::int64_t step) { same.push_back(step); });
  EXPECT_EQ(same, steps);
  return steps;
}

StepColumn columnOf(const Steps& steps) {
  StepColumn column;
  for (const std::int64_t step : steps) {
    column.append(step);
    EXPECT_EQ(column.back(), step);
  }
  return column;
}

void expectKept(const Steps& steps) {
  EXPECT_THAT(stepsOf(columnOf(steps)), ElementsAreArray(steps));
}

TEST(StepColumn, IsEmptyAtFirst) {
  EXPECT_THAT(stepsOf(StepColumn()), IsEmpty());
  EXPECT_EQ(StepColumn().countBefore(0), 0U);
}

TEST(StepColumn, KeepsEquallySpacedStepsWithoutMemory) {
  StepColumn column;
  for (std::int64_t step = 7; step < 7 + 1000 * 10; step += 10) {
    column.append(step);
  }
  EXPECT_EQ(column.size(), 1000U);
  EXPECT_EQ(column[999], 7 + 999 * 10);
  EXPECT_EQ(column.bytes(), 0U);
}

TEST(StepColumn, KeepsUnequallySpacedSteps) {
  expectKept({0, 1, 2, 4, 8, 16, 17});
  expectKept({5, 6});
  expectKept({5, 6, 8});
}

TEST(StepColumn, KeepsUnequallySpacedStepsInFourBytesEach) {
  StepColumn column = columnOf({0, 1});
  for (std::int64_t i = 2; i < 1000; ++i) {
    column.append(i * i);
  }
  EXPECT_LE(column.bytes(), 1000U * 4 * 9 / 8 + 64);
}

TEST(StepColumn, KeepsStepsThatAreFarApart) {
  expectKept({0, 1, kFar - 1});  // the last one that is narrow
  expectKept({0, 1, kFar});
  expectKept({0, 1, 3, kFar - 1, kFar, kFar + 1});
  expectKept({0, kFar, 2 * kFar, 2 * kFar + 1});
}

TEST(StepColumn, KeepsNegativeSteps) {
  expectKept({-100, -90, -80, 0, 1});
  expectKept({-kFar, -1, 0, 1});
  expectKept({-3, -2, -1, 0, 1});
}

TEST(StepColumn, KeepsTheLeastAndTheGreatestStep) {
  expectKept({kLeast, kMost});
  expectKept({kLeast, -1, kMost});
  expectKept({kLeast, 0, kMost - 1, kMost});
  expectKept({kLeast, kLeast + 1, kLeast + 3});
  expectKept({kMost - 1, kMost});
}

TEST(StepColumn, KeepsWhatItTruncatesTo) {
  for (const Steps& steps : {Steps{1, 2, 3, 4}, Steps{1, 2, 4, 8}, Steps{1, 2, kFar, kFar + 7}}) {
    for (std::size_t size = 0; size <= steps.size(); ++size) {
      StepColumn column = columnOf(steps);
      column.truncate(size);
      const Steps kept(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_THAT(stepsOf(column), ElementsAreArray(kept));
    }
  }
}

TEST(StepColumn, TakesStepsOfAnySpacingAfterATruncation) {
  for (const Steps& steps : {Steps{1, 2, 3, 4}, Steps{1, 2, 4, 8}, Steps{1, 2, kFar, kFar + 7}}) {
    for (std::size_t size = 0; size <= steps.size(); ++size) {
      for (const std::int64_t distance : {std::int64_t{1}, std::int64_t{2}, kFar}) {
        StepColumn column = columnOf(steps);
        column.truncate(size);
        Steps expected(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(size));
        for (int i = 0; i < 3; ++i) {
          expected.push_back((expected.empty() ? -5 : expected.back()) + distance);
          column.append(expected.back());
        }
        EXPECT_THAT(stepsOf(column), ElementsAreArray(expected)) << size << " " << distance;
      }
    }
  }
}

TEST(StepColumn, FreesItsMemoryWithItsLastStep) {
  StepColumn column = columnOf({1, 2, 4, kFar});
  EXPECT_GT(column.bytes(), 0U);
  column.clear();
  EXPECT_EQ(column.bytes(), 0U);
  column.append(3);
  EXPECT_THAT(stepsOf(column), ElementsAre(3));
}

TEST(StepColumn, CountsTheStepsBeforeAStep) {
  const Steps steps{kLeast, -5, 0, 7, kFar, kMost};
  const StepColumn column = columnOf(steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(column.countBefore(steps[i]), i);
  }
  EXPECT_EQ(column.countBefore(1), 3U);
  EXPECT_EQ(column.countBefore(kMost - 1), 5U);
}

}  // namespace
}  // namespace steptape::detail::server
