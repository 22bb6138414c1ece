// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steptape::detail::log {

/// What the name of a tag says about its curve.
enum class CurveKind : std::uint8_t {
  kOther,
  kLoss,       ///< Should fall.
  kObjective,  ///< Should fall if it is positive; otherwise nobody knows.
  kScore,      ///< Should rise.
  kMeasure,    ///< A time, a rate, an amount of memory, a count: has peaks, such as at the end of
               ///< an epoch.
};

/// Judges by the words of the name, such as "loss" in "val/TotalLoss" and "MSELoss2".
CurveKind curveKindOf(std::string_view tag);

/// Whether the tag is what a whole model is trained by, such as "train/lm_loss", and no part of it,
/// such as "loss/kl", which may rise for the others.
bool isWholeLoss(std::string_view tag);

/// Whether its run learns by reward, or has losses that rise as others learn: "episode_reward",
/// "critic_loss", "loss_D".
bool isOfContest(std::string_view tag);

/// The part of an experiment that a tag belongs to.
enum class CurvePart : std::uint8_t { kNone, kTraining, kValidation };

/// A name without the word that tells training from validation, and without how often it is logged:
/// "loss/train", "train_loss_epoch" and "val_loss" are all "loss".
struct PartedName {
  CurvePart part = CurvePart::kNone;
  std::string rest;
};

PartedName partedNameOf(std::string_view tag);

}  // namespace steptape::detail::log
