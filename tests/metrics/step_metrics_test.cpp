// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/step_metrics.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metrics/reduce/metric_queue.h"
#include "metrics/reduce/metric_totals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The message, and that it is complete when the last metric is queued. metric_reducer_test.cpp
// tests the results.
namespace steptape::detail::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class StepMetricsTest : public ::testing::Test {
 protected:
  QueuedMetric metric(const std::string& tag, std::uint8_t statistics = 0) {
    return {tags_.idOf(tag), statistics};
  }
  std::shared_ptr<const MetricLayout> layoutOf(const std::vector<QueuedMetric>& metrics) {
    return MetricLayout::of(metrics, tags_);
  }
  static MetricMoments value(double value, double weight = 1) {
    return MetricMoments::of(value, weight, 0);
  }
  /// Returns weight and weighted sum by place, in the form of the message.
  static std::vector<double> sent(StepMetrics& step, std::size_t capacity) {
    const ArrayView<double> message = step.sumsMessage(0, capacity);
    return {message.begin() + SumsMessage::at(0), message.end()};
  }

  TagTable tags_;
};

TEST_F(StepMetricsTest, HasItsMessageReadyInTheOrderOfTagsHoweverTheyWereQueued) {
  StepMetrics step(layoutOf({metric("b"), metric("a")}));
  step.add(metric("b"), value(2), std::nullopt);
  EXPECT_FALSE(step.isLaidOut());
  step.add(metric("a"), value(1, 3), std::nullopt);
  EXPECT_TRUE(step.isLaidOut());
  EXPECT_THAT(sent(step, 4), ElementsAre(3, 3, 1, 2, 0, 0));
}

TEST_F(StepMetricsTest, MergesSeveralValuesOfATagInTheMessage) {
  StepMetrics step(layoutOf({metric("a")}));
  EXPECT_TRUE(step.add(metric("a"), value(1), std::nullopt));
  EXPECT_FALSE(step.add(metric("a"), value(5, 3), std::nullopt));
  EXPECT_THAT(sent(step, 2), ElementsAre(4, 16));
  EXPECT_EQ(step.moments(0).max, 5);
  EXPECT_EQ(step.size(), 1U);
}

TEST_F(StepMetricsTest, IsNotLaidOutWithAMetricMoreOrWithOtherStatistics) {
  const auto layout = layoutOf({metric("a")});
  StepMetrics more(layout);
  more.add(metric("a"), value(1), std::nullopt);
  more.add(metric("new"), value(2), std::nullopt);
  EXPECT_FALSE(more.isLaidOut());
  EXPECT_THAT(more.metrics(), SizeIs(2));
  StepMetrics other(layout);
  other.add(metric("a", kMaximum), value(1), std::nullopt);
  EXPECT_FALSE(other.isLaidOut());
}

TEST_F(StepMetricsTest, KeepsValuesAndWallTimesInANewLayout) {
  StepMetrics step;
  step.add(metric("z"), value(26), std::nullopt);
  step.add(metric("a", kMinimum), value(1), 17.5);
  const StepMetrics laidOut = step.laidOutAs(layoutOf(step.metrics()));
  EXPECT_TRUE(laidOut.isLaidOut());
  EXPECT_EQ(laidOut.layout()->metrics[0].tag, "a");
  EXPECT_EQ(laidOut.moments(1).weightedSum, 26);
  EXPECT_THAT(laidOut.wallTimes(), ElementsAre(17.5, std::nullopt));
  EXPECT_TRUE(laidOut.layout()->needsMoments);
}

TEST_F(StepMetricsTest, SendsNothingOfThePreviousStep) {
  StepMetrics step(layoutOf({metric("a"), metric("b")}));
  step.add(metric("a"), value(1), 17.5);
  step.add(metric("b"), value(2), std::nullopt);
  step.clear();
  EXPECT_EQ(step.size(), 0U);
  step.add(metric("b"), value(3), std::nullopt);
  EXPECT_FALSE(step.isLaidOut());
  StepMetrics laidOut = step.laidOutAs(layoutOf(step.metrics()));
  EXPECT_THAT(sent(laidOut, 4), ElementsAre(1, 3, 0, 0, 0, 0));
  EXPECT_THAT(laidOut.wallTimes(), SizeIs(0));
}

TEST_F(StepMetricsTest, SendsUnusedPlacesThatChangeNoResult) {
  StepMetrics step(layoutOf({metric("a")}));
  step.add(metric("a"), value(1), std::nullopt);
  const ArrayView<MetricMoments> message = step.momentsMessage(77, 3, 16);
  ASSERT_EQ(message.size(), 16U);
  EXPECT_EQ(message[0].min, 77);
  EXPECT_EQ(message[0].maxRank, 3);
  EXPECT_EQ(message[1].weight, 1);
  EXPECT_EQ(message[15].weight, 0);
  EXPECT_THAT(std::vector<double>(sent(step, 16)).back(), 0);
}

TEST_F(StepMetricsTest, LeavesOutWhatDoesNotFit) {
  StepMetrics step(layoutOf({metric("a"), metric("b"), metric("c")}));
  for (const char* tag : {"a", "b", "c"}) {
    step.add(metric(tag), value(1), std::nullopt);
  }
  EXPECT_THAT(sent(step, 3), ElementsAre(1, 1, 1, 1));
}

TEST_F(StepMetricsTest, LetsOneStepAtATimeHaveTheMemoryOfAnEarlierOne) {
  StepMetrics used(layoutOf({metric("a"), metric("b")}));
  used.add(metric("a"), value(1), std::nullopt);
  used.add(metric("b"), value(1), std::nullopt);
  const double* const memory = used.sums().data();
  MetricQueue queue;
  queue.recycle(std::move(used));
  queue.add(7, metric("a"), value(1), std::nullopt);
  queue.add(8, metric("a"), value(1), std::nullopt);
  // Accumulated steps have no room for metrics that are not queued.
  EXPECT_EQ(queue.take(8).layout(), MetricLayout::none());
  EXPECT_EQ(queue.take(7).sums().data(), memory);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(MetricTotalsPool, ReusesReturnedTotalsOnly) {
  const auto pool = std::make_shared<MetricTotalsPool>();
  std::shared_ptr<MetricTotals> first = pool->take();
  const std::shared_ptr<MetricTotals> second = pool->take();
  EXPECT_NE(first, second);
  const MetricTotals* const memory = first.get();
  first.reset();
  EXPECT_EQ(pool->take().get(), memory);
}

TEST(MetricTotalsPool, LivesUntilTheLastTotalsAreReturned) {
  auto pool = std::make_shared<MetricTotalsPool>();
  const std::weak_ptr<MetricTotalsPool> watched = pool;
  std::shared_ptr<MetricTotals> lent = pool->take();
  pool.reset();
  EXPECT_FALSE(watched.expired());
  lent.reset();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace steptape::detail::metrics
