// SPDX-License-Identifier: Apache-2.0
#include "train/loop/loss_scaler.h"

#include <limits>

#include "support/expect_error.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace steptape::detail::train {
namespace {

LossScaleOptions options() {
  LossScaleOptions options;
  options.initial = 8;
  options.growthSteps = 2;
  return options;
}

/// Returns a parameter with this gradient in each of its two elements.
at::Tensor withGradient(double gradient) {
  at::Tensor parameter = at::zeros({2});
  parameter.mutable_grad() = at::full({2}, gradient);
  return parameter;
}

TEST(LossScaler, TakesTheScaleOutOfTheGradients) {
  LossScaler scaler(options());
  const at::Tensor parameter = withGradient(16);
  EXPECT_TRUE(scaler.unscale({parameter, at::zeros({3})}));
  EXPECT_TRUE(at::equal(parameter.grad(), at::full({2}, 2.0)));
}

TEST(LossScaler, ShrinksAtAnInfinityAndAtANan) {
  LossScaler scaler(options());
  EXPECT_FALSE(
      scaler.unscale({withGradient(1), withGradient(std::numeric_limits<double>::infinity())}));
  EXPECT_EQ(scaler.scale(), 4);
  EXPECT_FALSE(scaler.unscale({withGradient(std::numeric_limits<double>::quiet_NaN())}));
  EXPECT_EQ(scaler.scale(), 2);
}

TEST(LossScaler, GrowsAfterEnoughStepsWithoutAnInfinity) {
  LossScaler scaler(options());
  scaler.unscale({withGradient(1)});
  scaler.unscale({withGradient(std::numeric_limits<double>::infinity())});
  scaler.unscale({withGradient(1)});
  EXPECT_EQ(scaler.scale(), 4) << "the steps before the infinity counted";
  scaler.unscale({withGradient(1)});
  EXPECT_EQ(scaler.scale(), 8);
}

TEST(LossScaler, RejectsFactorsThatCannotWork) {
  LossScaleOptions wrong = options();
  wrong.backoffFactor = 1;
  test::expectError(ErrorCode::kInvalidArgument, "LossScaleOptions::backoffFactor: got 1.0",
                    [&] { LossScaler scaler(wrong); });
}

}  // namespace
}  // namespace steptape::detail::train
