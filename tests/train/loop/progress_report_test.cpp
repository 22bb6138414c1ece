// SPDX-License-Identifier: Apache-2.0
#include "train/loop/progress_report.h"

#include <gtest/gtest.h>

namespace steptape::detail::train {
namespace {

EpochStatus halfOfTheSecondEpoch() {
  EpochStatus status;
  status.epoch = 2;
  status.epochs = 3;
  status.step = 50;
  status.steps = 100;
  status.loss = 0.8123;
  status.seconds = 2.53;
  status.speed.samplesPerSecond = 25974.4;
  status.secondsLeft = 62.4;
  return status;
}

TEST(ProgressReport, DrawsABarWithRateLossAndTimeLeft) {
  EXPECT_EQ(barText(halfOfTheSecondEpoch()),
            "epoch 2/3 [============>           ]  50%  loss 0.8123  25974 samples/s  1:02 left");
}

TEST(ProgressReport, DrawsAFullBarAtTheEnd) {
  EpochStatus status = halfOfTheSecondEpoch();
  status.step = 100;
  status.secondsLeft = 0;
  EXPECT_EQ(barText(status),
            "epoch 2/3 [========================] 100%  loss 0.8123  25974 samples/s  0:00 left");
}

TEST(ProgressReport, CountsStepsIfTheirNumberIsUnknown) {
  EpochStatus status = halfOfTheSecondEpoch();
  status.steps = 0;
  EXPECT_EQ(barText(status), "epoch 2/3  step 50  loss 0.8123  25974 samples/s");
}

TEST(ProgressReport, PrintsALinePerEpoch) {
  ::testing::internal::CaptureStdout();
  ProgressReport(ProgressStyle::kLines, true)
      .epoch(halfOfTheSecondEpoch(), {{"loss", 0.6512}, {"accuracy", 0.7441}});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "epoch 2/3: train loss 0.8123, test loss 0.6512, test accuracy 0.7441, 2.53 s, "
            "25974 samples/s\n");
}

TEST(ProgressReport, LeavesOutMetricsOfAnEpochThatWasNotJudged) {
  EXPECT_EQ(epochLine(halfOfTheSecondEpoch(), {}),
            "epoch 2/3: train loss 0.8123, 2.53 s, 25974 samples/s");
}

TEST(ProgressReport, EndsALineWithTheOperationsPerSecond) {
  EpochStatus status = halfOfTheSecondEpoch();
  status.speed.teraflopsPerSecond = 0.0213456;
  EXPECT_EQ(epochLine(status, {}),
            "epoch 2/3: train loss 0.8123, 2.53 s, 25974 samples/s, 0.0213 TFLOP/s");
}

TEST(ProgressReport, CountsTokensWhereSamplesHaveThem) {
  EpochStatus status = halfOfTheSecondEpoch();
  status.speed.tokensPerSecond = 3324723.2;
  EXPECT_EQ(epochLine(status, {}), "epoch 2/3: train loss 0.8123, 2.53 s, 3324723 tokens/s");
  EXPECT_EQ(barText(status),
            "epoch 2/3 [============>           ]  50%  loss 0.8123  3324723 tokens/s  1:02 left");
}

TEST(ProgressReport, IsSilentOnOtherRanksThanTheRoot) {
  ::testing::internal::CaptureStdout();
  ProgressReport(ProgressStyle::kLines, false)
      .epoch(halfOfTheSecondEpoch(), {{"loss", 0.6512}, {"accuracy", 0.7441}});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(ProgressReport, DrawsTheFirstStepAndThenWaits) {
  ::testing::internal::CaptureStderr();
  ProgressReport report(ProgressStyle::kBar, true);
  EXPECT_TRUE(report.wantsStep());
  report.step(halfOfTheSecondEpoch());
  EXPECT_FALSE(report.wantsStep());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "\r\033[K" + barText(halfOfTheSecondEpoch()));
}

}  // namespace
}  // namespace steptape::detail::train
