// SPDX-License-Identifier: Apache-2.0
#include "server/http2/frame_budget.h"

#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr FrameBudget::Time kStart{hours(1)};

/// Takes all that is left. @return how much it was.
std::int64_t left(FrameBudget budget) {
  std::int64_t count = 0;
  while (budget.take()) {
    ++count;
  }
  return count;
}

TEST(FrameBudget, AllowsSoManyAtOnce) {
  FrameBudget budget;
  budget.refill(kStart);
  EXPECT_EQ(left(budget), FrameBudget::kAtOnce);
}

TEST(FrameBudget, GrowsWithTime) {
  FrameBudget budget;
  budget.refill(kStart);
  for (std::int64_t i = 0; i < FrameBudget::kAtOnce; ++i) {
    ASSERT_TRUE(budget.take());
  }
  EXPECT_EQ(left(budget), 0);
  budget.refill(kStart + milliseconds(250));
  EXPECT_EQ(left(budget), 250);
  budget.refill(kStart + milliseconds(500));
  EXPECT_EQ(left(budget), 500);
}

TEST(FrameBudget, EarnsNothingBeyondItsLimit) {
  FrameBudget budget;
  budget.refill(kStart);
  budget.refill(kStart + hours(1'000'000));
  EXPECT_EQ(left(budget), FrameBudget::kAtOnce);
}

TEST(FrameBudget, CountsShortTimesToo) {
  FrameBudget budget;
  budget.refill(kStart);
  for (std::int64_t i = 0; i < FrameBudget::kAtOnce; ++i) {
    ASSERT_TRUE(budget.take());
  }
  for (int i = 1; i <= 100; ++i) {
    budget.refill(kStart + std::chrono::microseconds(100 * i));
  }
  EXPECT_EQ(left(budget), 10);
}

}  // namespace
}  // namespace steptape::detail::server
