// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/train/batch_loader.h"
#include "steptape/train/trainer_options.h"

#include "train/loop/run_state.h"

#include <c10/core/Device.h>

namespace steptape::detail::train {

/// Returns the device of the model: the rank's GPU, or the caller's choice.
c10::Device deviceOf(const TrainerParts& parts);

/// Returns in which direction the monitored metric improves.
///
/// @throws Error(kInvalidArgument) if there is no metric of that name.
bool higherIsBetter(const TrainerOptions& options);

/// Compares the options that decide number and content of the collectives, and the parameters'
/// updates. Collective. Call it first: a rank that fails alone because of a different option would
/// leave the other ranks waiting.
///
/// @throws Error(kRankMismatch) on every rank, naming the first rank and option that differs.
void checkRanksAgree(const TrainerParts& parts, const BatchLoader& train);

/// As checkRanksAgree(), for the optimizers and their options: each rank updates its part of
/// the parameters with its own optimizer. REQUIRES: the ranks have the same model.
void checkOptimizersAgree(const TrainerParts& parts);

}  // namespace steptape::detail::train
