// SPDX-License-Identifier: Apache-2.0
#include "log/curves/curve_names.h"

#include <gtest/gtest.h>

namespace steptape::detail::log {
namespace {

TEST(CurveName, SaysWhetherACurveShouldFallOrRise) {
  for (const char* const tag : {"loss",
                                "train/loss",
                                "val_loss",
                                "TotalLoss",
                                "LOSS/train",
                                "mse",
                                "eval/WER",
                                "MSELoss",
                                "BCELoss",
                                "TDError",
                                "loss1",
                                "loss_1",
                                "loss2D",
                                "cost",
                                "cross_entropy",
                                "xent",
                                "LanguageCrossEntropy",
                                "bits_per_byte",
                                "loss/gpu0",
                                "alpha_loss",
                                "losses/value_loss"}) {
    EXPECT_EQ(curveKindOf(tag), CurveKind::kLoss) << tag;
  }
  for (const char* const tag :
       {"accuracy", "acc/top1", "episode_reward", "val/F1", "acc1", "top5Acc", "F1Score", "mAP"}) {
    EXPECT_EQ(curveKindOf(tag), CurveKind::kScore) << tag;
  }
  for (const char* const tag :
       {"lr", "glossary", "loss_scale", "closs", "", "residual/argmax_rank", "entropy",
        "vf_loss_coef", "train/loss_scaler", "loss/beta", "losses/explained_variance",
        "losses/entropy", "losses/approx_kl"}) {
    EXPECT_EQ(curveKindOf(tag), CurveKind::kOther) << tag;
  }
}

TEST(CurveName, SaysWhatIsMeasured) {
  for (const char* const tag : {"seconds",
                                "step_time",
                                "loss/seconds",
                                "machine/cpu_percent",
                                "samples_per_second",
                                "steps/second",
                                "it/s",
                                "s/it",
                                "tokens/s",
                                "tokens_per_sec_per_gpu",
                                "SPS",
                                "tps",
                                "mfu",
                                "perf/tflops",
                                "step_rate",
                                "vram",
                                "rss",
                                "mem_allocated",
                                "ram_gib",
                                "gpu0/mem_used",
                                "tokens_in_batch"}) {
    EXPECT_EQ(curveKindOf(tag), CurveKind::kMeasure) << tag;
  }
  for (const char* const tag : {"learning_rate", "second_moment", "per_layer/s", "batch_norm"}) {
    EXPECT_EQ(curveKindOf(tag), CurveKind::kOther) << tag;
  }
}

TEST(CurveName, JudgesByItsLastWord) {
  EXPECT_EQ(curveKindOf("reward_loss"), CurveKind::kLoss);
  EXPECT_EQ(curveKindOf("loss/accuracy"), CurveKind::kScore);
}

TEST(CurveName, TellsTheLossOfAModelFromItsParts) {
  for (const char* const tag : {"loss", "train/loss", "lm loss", "train/total_loss",
                                "metrics/train/LanguageCrossEntropy"}) {
    EXPECT_TRUE(isWholeLoss(tag)) << tag;
  }
  for (const char* const tag :
       {"loss/kl", "g_loss", "val/loss", "loss_1", "accuracy", "aux_loss"}) {
    EXPECT_FALSE(isWholeLoss(tag)) << tag;
  }
}

TEST(CurveName, TellsAContest) {
  for (const char* const tag : {"episode_reward", "rollout/ep_len", "critic_loss", "Loss_D"}) {
    EXPECT_TRUE(isOfContest(tag)) << tag;
  }
  for (const char* const tag : {"train/loss", "accuracy", "value", "q"}) {
    EXPECT_FALSE(isOfContest(tag)) << tag;
  }
}

TEST(CurveName, TellsTrainingFromValidation) {
  for (const char* const tag :
       {"loss/train", "train_loss", "TrainLoss", "training/loss", "train_loss_epoch"}) {
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
