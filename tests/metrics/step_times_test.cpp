// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>

#include "steptape/metrics/straggler_report.h"
#include "steptape/ranks/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using std::chrono::nanoseconds;
using ::testing::ElementsAre;

class StepTimesTest : public ::testing::Test {
 protected:
  void pass(int nanos) { clock_->advance(nanoseconds(nanos)); }

  const std::shared_ptr<testing::FakeClock> clock_ = std::make_shared<testing::FakeClock>();
  StepTimes times_{clock_};
};

TEST_F(StepTimesTest, SumsThePartsAndIgnoresTimeBetweenThem) {
  for (int step = 0; step < 2; ++step) {
    pass(1000);
    {
      const StepTimes::Timer timer = times_.time(StepPart::kInput);
      pass(10);
    }
    pass(1000);
    {
      const StepTimes::Timer timer = times_.time(StepPart::kOptimizer);
      pass(7);
    }
  }
  EXPECT_THAT(times_.take(), ElementsAre(20, 0, 0, 14, 0));
}

TEST_F(StepTimesTest, CountsNestedTimeForTheInnerPartOnly) {
  {
    const StepTimes::Timer backward = times_.time(StepPart::kBackward);
    pass(10);
    {
      const StepTimes::Timer wait = times_.time(StepPart::kWait);
      pass(100);
    }
    pass(1);
  }
  EXPECT_THAT(times_.take(), ElementsAre(0, 0, 11, 0, 100));
}

TEST_F(StepTimesTest, SubtractsAddedTimeFromTheRunningPart) {
  {
    const StepTimes::Timer backward = times_.time(StepPart::kBackward);
    pass(100);
    times_.add(StepPart::kWait, 40e-9);
  }
  times_.add(StepPart::kForward, 5e-9);
  EXPECT_THAT(times_.take(), ElementsAre(0, 5, 60, 0, 40));
}

TEST_F(StepTimesTest, RestartsAtZeroWhenTakenEvenWhileATimerRuns) {
  const StepTimes::Timer timer = times_.time(StepPart::kInput);
  pass(10);
  EXPECT_THAT(times_.take(), ElementsAre(10, 0, 0, 0, 0));
  pass(3);
  EXPECT_THAT(times_.take(), ElementsAre(3, 0, 0, 0, 0));
}

TEST_F(StepTimesTest, NamesTheParts) {
  EXPECT_STREQ(stepPartName(StepPart::kInput), "input");
  EXPECT_STREQ(stepPartName(StepPart::kForward), "forward");
  EXPECT_STREQ(stepPartName(StepPart::kBackward), "backward");
  EXPECT_STREQ(stepPartName(StepPart::kOptimizer), "optimizer");
  EXPECT_STREQ(stepPartName(StepPart::kWait), "wait");
}

}  // namespace
}  // namespace steptape
