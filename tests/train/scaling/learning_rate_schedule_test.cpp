// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/learning_rate_schedule.h"

#include <cmath>
#include <limits>

#include "steptape/base/status.h"

#include "support/expect_error.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

namespace steptape {
namespace {

constexpr double kBase = 0.1;

LearningRateSchedule scheduleOf(LearningRateScheduleOptions options) {
  return LearningRateSchedule(std::vector<double>{kBase}, std::move(options));
}

TEST(LearningRateSchedule, KeepsTheRatesByDefault) {
  const LearningRateSchedule schedule = scheduleOf({});
  for (const double epoch : {0.0, 0.5, 90.0}) {
    EXPECT_EQ(schedule.rate(epoch), kBase);
  }
}

TEST(LearningRateSchedule, ScalesWithTheRanks) {
  LearningRateScheduleOptions options;
  options.scale = 8;
  EXPECT_DOUBLE_EQ(scheduleOf(options).rate(0), 0.8);
}

// By hand: 1 / size * (epoch * (size - 1) / warmup + 1) of the scaled rate, size 8, warm-up 5.
TEST(LearningRateSchedule, WarmsUpInFractionsOfAnEpoch) {
  LearningRateScheduleOptions options;
  options.scale = 8;
  options.warmUpEpochs = 5;
  const LearningRateSchedule schedule = scheduleOf(options);
  EXPECT_DOUBLE_EQ(schedule.rate(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.rate(0.5), 0.17);
  EXPECT_DOUBLE_EQ(schedule.rate(2.5), 0.45);
  EXPECT_NEAR(schedule.rate(4.99), 0.7986, 1e-12);
  EXPECT_DOUBLE_EQ(schedule.rate(5), 0.8);
  EXPECT_DOUBLE_EQ(schedule.rate(50), 0.8);
}

// The recipe of Goyal et al., section 5.1, for 8 ranks: a tenth at epochs 30, 60 and 80.
TEST(LearningRateSchedule, FallsAtMilestones) {
  LearningRateScheduleOptions options;
  options.scale = 8;
  options.warmUpEpochs = 5;
  options.milestones = {30, 60, 80};
  const LearningRateSchedule schedule = scheduleOf(options);
  EXPECT_DOUBLE_EQ(schedule.rate(29.999), 0.8);
  EXPECT_DOUBLE_EQ(schedule.rate(30), 0.08);
  EXPECT_NEAR(schedule.rate(60), 0.008, 1e-15);
  EXPECT_NEAR(schedule.rate(89), 0.0008, 1e-16);
}

// By hand: 0.02 + (0.4 - 0.02) * (1 + cos(pi * t)) / 2, with t = 0, 1/3, 1/2, 1 of 6 epochs.
TEST(LearningRateSchedule, FallsAlongACosineAfterTheWarmUp) {
  LearningRateScheduleOptions options;
  options.scale = 4;
  options.warmUpEpochs = 2;
  options.cosineEpochs = 8;
  options.cosineFinalRate = 0.02;
  const LearningRateSchedule schedule = scheduleOf(options);
  EXPECT_DOUBLE_EQ(schedule.rate(1), 0.25);
  EXPECT_DOUBLE_EQ(schedule.rate(2), 0.4);
  EXPECT_DOUBLE_EQ(schedule.rate(4), 0.305);
  EXPECT_DOUBLE_EQ(schedule.rate(5), 0.21);
  EXPECT_DOUBLE_EQ(schedule.rate(8), 0.02);
  EXPECT_DOUBLE_EQ(schedule.rate(100), 0.02);
}

TEST(LearningRateSchedule, KeepsTheProportionsOfTheGroups) {
  LearningRateScheduleOptions options;
  options.scale = 2;
  options.milestones = {1};
  const LearningRateSchedule schedule(std::vector<double>{0.1, 0.01}, options);
  EXPECT_DOUBLE_EQ(schedule.rate(0, 1), 0.02);
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 0.02);
  EXPECT_DOUBLE_EQ(schedule.rate(1, 1), 0.002);
  test::expectError(ErrorCode::kInvalidArgument, "got group 2; expected one of 2",
                    [&] { static_cast<void>(schedule.rate(0, 2)); });
}

TEST(LearningRateSchedule, TakesBaseRatesOfACheckpoint) {
  LearningRateScheduleOptions options;
  options.scale = 2;
  LearningRateSchedule schedule = scheduleOf(options);
  schedule.setBaseRates({0.5});
  EXPECT_DOUBLE_EQ(schedule.rate(0), 1.0);
  test::expectError(ErrorCode::kInvalidArgument, "got 2 base rates; expected 1", [&] {
    schedule.setBaseRates({1, 2});
  });
}

TEST(LearningRateSchedule, DescribesItself) {
  LearningRateScheduleOptions options;
  EXPECT_EQ(scheduleOf(options).describe(), "0.1");
  options.scale = 8;
  options.warmUpEpochs = 2.5;
  LearningRateScheduleOptions cosine = options;
  options.milestones = {30, 60};
  EXPECT_EQ(scheduleOf(options).describe(),
            "0.1 x 8, warm-up over 2.5 epochs, x 0.1 at epochs 30, 60");
  cosine.cosineEpochs = 90;
  EXPECT_EQ(scheduleOf(cosine).describe(),
            "0.1 x 8, warm-up over 2.5 epochs, cosine to 0 at epoch 90");
}

TEST(LearningRateSchedule, RejectsInvalidOptions) {
  const auto rejects = [](LearningRateScheduleOptions options, const std::string& message) {
    test::expectError(ErrorCode::kInvalidArgument, message, [&] { scheduleOf(options); });
  };
  LearningRateScheduleOptions options;
  options.scale = -1;
  rejects(options, "got a scale of -1.0");
  options = {};
  options.warmUpEpochs = std::numeric_limits<double>::quiet_NaN();
  rejects(options, "got a warm-up of nan");
  options = {};
  options.milestones = {30, 30};
  rejects(options, "expected ascending ones");
  options.milestones = {30};
  options.cosineEpochs = 90;
  rejects(options, "got milestones and a cosine; expected one of them");
  options = {};
  options.warmUpEpochs = 5;
  options.cosineEpochs = 5;
  rejects(options, "expected an end after the warm-up of 5.0");
  test::expectError(ErrorCode::kInvalidArgument, "got an epoch of -0.5",
                    [] { static_cast<void>(scheduleOf({}).rate(-0.5)); });
}

TEST(LearningRateSchedule, SetsTheRateOfEveryGroup) {
  torch::nn::Linear model(3, 2);
  torch::optim::SGD optimizer({torch::optim::OptimizerParamGroup({model->weight}),
                               torch::optim::OptimizerParamGroup({model->bias})},
                              torch::optim::SGDOptions(0.1));
  optimizer.param_groups()[1].options().set_lr(0.01);
  LearningRateScheduleOptions options;
  options.scale = 4;
  options.warmUpEpochs = 2;
  const LearningRateSchedule schedule(optimizer, options);
  schedule.apply(optimizer, 1);
  schedule.apply(optimizer, 1);  // depends on no call before
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 0.25);
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[1].options().get_lr(), 0.025);
  torch::optim::SGD other(model->parameters(), torch::optim::SGDOptions(0.1));
  test::expectError(ErrorCode::kInvalidArgument,
                    "got an optimizer with 1 parameter groups; expected 2, one per base rate",
                    [&] { schedule.apply(other, 0); });
}

}  // namespace
}  // namespace steptape
