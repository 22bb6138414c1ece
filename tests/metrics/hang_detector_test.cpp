// SPDX-License-Identifier: Apache-2.0
#include "metrics/watch/hang_detector.h"

#include <optional>

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::metrics::HangDetector;
using detail::process::RunPhase;

/// A process that is looked at once a second, by the default limits: at least 60 s, 10 times the
/// usual time, at first 1800 s.
class HangDetectorTest : public ::testing::Test {
 protected:
  /// Looks once a second for `seconds`, and returns the last report.
  std::optional<HangDetector::Hang> pass(int seconds) {
    std::optional<HangDetector::Hang> last;
    for (int i = 0; i < seconds; ++i) {
      sight_.now += 1;
      if (const auto hang = detector_.look(sight_)) {
        last = hang;
        ++reports_;
      }
    }
    return last;
  }

  /// Passes through steps that each last `seconds`.
  void train(int steps, int seconds) {
    sight_.usualStep = seconds;
    for (int i = 0; i < steps; ++i) {
      EXPECT_FALSE(pass(seconds - 1));
      ++sight_.steps;
      EXPECT_FALSE(pass(1));
    }
  }

  /// Like pass(), while zones begin and end.
  std::optional<HangDetector::Hang> work(int seconds) {
    std::optional<HangDetector::Hang> hang;
    for (int i = 0; i < seconds && !hang; ++i) {
      ++sight_.activity;
      hang = pass(1);
    }
    return hang;
  }

  void enter(RunPhase phase) { sight_.phase = phase; }

  HangDetector detector_{{}};
  HangDetector::Sight sight_;
  int reports_ = 0;
};

TEST_F(HangDetectorTest, ReportsAfterAMinuteWithoutAShortStep) {
  train(10, 2);
  EXPECT_FALSE(pass(59));
  const auto hang = pass(1);
  ASSERT_TRUE(hang);
  EXPECT_DOUBLE_EQ(hang->waited, 60);
  EXPECT_DOUBLE_EQ(hang->usual, 2);
  EXPECT_DOUBLE_EQ(hang->limit, 60);
  EXPECT_EQ(hang->phase, RunPhase::kUnknown);
}

TEST_F(HangDetectorTest, WaitsTenTimesAsLongAsALongStepLasts) {
  train(10, 30);
  EXPECT_FALSE(pass(299));
  const auto hang = pass(1);
  ASSERT_TRUE(hang);
  EXPECT_DOUBLE_EQ(hang->limit, 300);
}

TEST_F(HangDetectorTest, ReportsAgainWhenTheTimeHasDoubled) {
  train(10, 2);
  pass(60);
  EXPECT_EQ(reports_, 1);
  EXPECT_FALSE(pass(59));
  pass(1);
  EXPECT_EQ(reports_, 2);
  pass(120);
  EXPECT_EQ(reports_, 3);
}

TEST_F(HangDetectorTest, ReportsANewHangAfterStepsThatWentOn) {
  train(10, 2);
  EXPECT_TRUE(pass(60));
  train(1, 2);
  EXPECT_FALSE(pass(59));
  EXPECT_TRUE(pass(1));
}

TEST_F(HangDetectorTest, IsSilentBeforeTheFirstStep) {
  EXPECT_FALSE(pass(7200));
}

TEST_F(HangDetectorTest, GivesTheFirstStepsHalfAnHour) {
  train(2, 2);
  EXPECT_FALSE(pass(1799));
  const auto hang = pass(1);
  ASSERT_TRUE(hang);
  EXPECT_DOUBLE_EQ(hang->usual, 0);
  EXPECT_DOUBLE_EQ(hang->limit, 1800);
}

TEST_F(HangDetectorTest, KnowsStepsThatAreShorterThanItsPeriod) {
  pass(1);
  sight_.steps = 100;
  sight_.usualStep = 0.001;
  EXPECT_FALSE(pass(60));
  EXPECT_TRUE(pass(1));
}

TEST_F(HangDetectorTest, GivesTheSetUpHalfAnHour) {
  enter(RunPhase::kSetup);
  EXPECT_FALSE(pass(1800));
  const auto hang = pass(1);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->phase, RunPhase::kSetup);
}

TEST_F(HangDetectorTest, LearnsHowLongAValidationLasts) {
  train(10, 2);
  for (int i = 0; i < 2; ++i) {
    enter(RunPhase::kValidation);
    EXPECT_FALSE(pass(500));
    enter(RunPhase::kForward);
    train(3, 2);
  }
  enter(RunPhase::kValidation);
  EXPECT_FALSE(pass(4990));
  const auto hang = pass(10);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->phase, RunPhase::kValidation);
  EXPECT_NEAR(hang->usual, 499, 1);
}

TEST_F(HangDetectorTest, GivesACheckpointATimeOfItsOwn) {
  train(10, 2);
  enter(RunPhase::kCheckpoint);
  EXPECT_FALSE(pass(1700));
  enter(RunPhase::kLoad);
  EXPECT_FALSE(pass(59));
  EXPECT_TRUE(pass(5));
}

TEST_F(HangDetectorTest, WaitsLongerWhileWorkGoesOn) {
  train(10, 2);
  ASSERT_FALSE(work(1740));
  const auto hang = pass(60);
  ASSERT_TRUE(hang);
  EXPECT_NEAR(hang->waited, 1800, 1);
}

TEST_F(HangDetectorTest, ReportsAMinuteAfterTheLastWork) {
  train(10, 2);
  ASSERT_FALSE(work(100));
  EXPECT_FALSE(pass(58));
  const auto hang = pass(2);
  ASSERT_TRUE(hang);
  EXPECT_NEAR(hang->waited, 160, 1);
  EXPECT_DOUBLE_EQ(hang->idle, 60);
}

TEST_F(HangDetectorTest, ReportsWorkThatNeverEndsAStep) {
  train(10, 2);
  const auto hang = work(1800);
  ASSERT_TRUE(hang);
  EXPECT_DOUBLE_EQ(hang->limit, 1800);
  EXPECT_LT(hang->idle, 2);
}

TEST_F(HangDetectorTest, DoesNotCountTimeThatIsExcused) {
  train(10, 2);
  sight_.counts = false;
  EXPECT_FALSE(pass(3600));
  sight_.counts = true;
  EXPECT_FALSE(pass(59));
  EXPECT_TRUE(pass(1));
}

TEST_F(HangDetectorTest, DoesNotCountTimeInWhichTheProcessWasStopped) {
  train(10, 2);
  sight_.now += 3600;
  EXPECT_FALSE(pass(55));
  EXPECT_TRUE(pass(5));
}

TEST_F(HangDetectorTest, LearnsTheLongestOfStepsWithoutAKnownTime) {
  for (int i = 0; i < 4; ++i) {
    ++sight_.steps;
    EXPECT_FALSE(pass(20));
  }
  EXPECT_FALSE(pass(170));
  const auto hang = pass(40);
  ASSERT_TRUE(hang);
  EXPECT_NEAR(hang->usual, 20, 1);
}

}  // namespace
}  // namespace steptape
