// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steptape::detail::log {

/// What the name of a tag says about its curve.
enum class CurveKind : std::uint8_t {
  kOther,
  kLoss,     ///< Should fall.
  kScore,    ///< Should rise.
  kMeasure,  ///< A time, a rate or an amount of memory: has peaks, such as at the end of an epoch.
};

/// Judges by the words of the name, such as "loss" in "val/TotalLoss".
CurveKind curveKindOf(std::string_view tag);

/// The part of an experiment that a tag belongs to.
enum class CurvePart : std::uint8_t { kNone, kTraining, kValidation };

/// A name without the word that tells training from validation: "loss/train" and "val_loss" are
/// both "loss".
struct PartedName {
  CurvePart part = CurvePart::kNone;
  std::string rest;
};

PartedName partedNameOf(std::string_view tag);

}  // namespace steptape::detail::log
