// SPDX-License-Identifier: Apache-2.0
#include "log/curves/curve_names.h"

#include <gtest/gtest.h>

namespace steptape::detail::log {
namespace {

TEST(CurveName, SaysWhetherACurveShouldFallOrRise) {
  for (const char* const tag :
       {"loss", "train/loss", "val_loss", "TotalLoss", "LOSS/train", "mse", "eval/WER"}) {
    EXPECT_EQ(curveKindOf(tag), CurveKind::kLoss) << tag;
  }
  for (const char* const tag : {"accuracy", "acc/top1", "episode_reward", "val/F1"}) {
    EXPECT_EQ(curveKindOf(tag), CurveKind::kScore) << tag;
  }
  for (const char* const tag :
       {"lr", "glossary", "loss_scale", "closs", "", "residual/argmax_rank"}) {
    EXPECT_EQ(curveKindOf(tag), CurveKind::kOther) << tag;
  }
}

TEST(CurveName, SaysWhatIsMeasured) {
  for (const char* const tag : {"seconds", "step_time", "loss/seconds", "machine/cpu_percent"}) {
    EXPECT_EQ(curveKindOf(tag), CurveKind::kMeasure) << tag;
  }
}

TEST(CurveName, JudgesByItsLastWord) {
  EXPECT_EQ(curveKindOf("reward_loss"), CurveKind::kLoss);
  EXPECT_EQ(curveKindOf("loss/accuracy"), CurveKind::kScore);
}

TEST(CurveName, TellsTrainingFromValidation) {
  for (const char* const tag : {"loss/train", "train_loss", "TrainLoss", "training/loss"}) {
    EXPECT_EQ(partedNameOf(tag).part, CurvePart::kTraining) << tag;
    EXPECT_EQ(partedNameOf(tag).rest, "loss/") << tag;
  }
  for (const char* const tag :
       {"loss/val", "val_loss", "eval/loss", "Loss/Test", "loss/validation"}) {
    EXPECT_EQ(partedNameOf(tag).part, CurvePart::kValidation) << tag;
    EXPECT_EQ(partedNameOf(tag).rest, "loss/") << tag;
  }
  EXPECT_EQ(partedNameOf("loss").part, CurvePart::kNone);
  EXPECT_EQ(partedNameOf("trained/loss").part, CurvePart::kNone);
}

}  // namespace
}  // namespace steptape::detail::log
