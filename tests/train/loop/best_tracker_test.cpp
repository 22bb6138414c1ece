// SPDX-License-Identifier: Apache-2.0
#include "train/loop/best_tracker.h"

#include <cmath>

#include <gtest/gtest.h>

namespace steptape::detail::train {
namespace {

MonitorOptions options(std::int64_t patience, double minDelta = 0) {
  MonitorOptions options;
  options.patience = patience;
  options.minDelta = minDelta;
  return options;
}

TEST(BestTracker, TakesTheFirstValueForTheBest) {
  BestTracker tracker(options(1), false);
  EXPECT_TRUE(std::isnan(tracker.best().value));
  EXPECT_TRUE(tracker.observe(3, 10));
  EXPECT_EQ(tracker.best().value, 3);
  EXPECT_EQ(tracker.best().step, 10);
}

TEST(BestTracker, ComparesInTheDirectionOfTheMetric) {
  BestTracker loss(options(1), false);
  BestTracker accuracy(options(1), true);
  loss.observe(1, 1);
  accuracy.observe(1, 1);
  EXPECT_FALSE(loss.observe(2, 2));
  EXPECT_TRUE(accuracy.observe(2, 2));
}

TEST(BestTracker, RestartsPatienceAfterAnImprovement) {
  BestTracker tracker(options(2), true);
  for (const double value : {1.0, 1.0, 2.0, 1.5}) {
    tracker.observe(value, 1);
    EXPECT_FALSE(tracker.isExhausted());
  }
  tracker.observe(2, 1);
  EXPECT_TRUE(tracker.isExhausted());
}

TEST(BestTracker, IgnoresGainsBelowTheMinimum) {
  BestTracker tracker(options(1, 0.5), true);
  tracker.observe(1, 1);
  EXPECT_FALSE(tracker.observe(1.5, 2));
  EXPECT_TRUE(tracker.observe(1.75, 3));
}

TEST(BestTracker, NeverRegardsNanAsBest) {
  BestTracker tracker(options(2), false);
  EXPECT_FALSE(tracker.observe(std::nan(""), 1));
  EXPECT_TRUE(tracker.observe(5, 2));
  EXPECT_FALSE(tracker.observe(std::nan(""), 3));
  EXPECT_EQ(tracker.best().value, 5);
}

TEST(BestTracker, IsNeverExhaustedWithoutPatience) {
  BestTracker tracker(options(0), false);
  for (int i = 0; i < 100; ++i) {
    tracker.observe(1, i);
  }
  EXPECT_FALSE(tracker.isExhausted());
}

}  // namespace
}  // namespace steptape::detail::train
