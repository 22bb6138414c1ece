// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/data/batch_loader.h"
#include "steptape/trainer/trainer_options.h"

#include "trainer/run_state.h"

#include <c10/core/Device.h>

namespace steptape::detail {

/// Where the model is: on the rank's GPU, or where the caller has put it.
c10::Device deviceOf(const TrainerParts& parts);

/// In which direction the monitored metric becomes better.
///
/// @throws Error(kInvalidArgument) if there is no metric of that name.
bool higherIsBetter(const TrainerOptions& options);

/// Compares what decides how many collectives a run makes, what is in them, and what becomes of the
/// parameters. Collective, and first of all: what fails on one rank alone for another option than
/// the others' would leave these waiting.
///
/// @throws Error(kRankMismatch) on every rank, naming the first rank and option that differs.
void checkRanksAgree(const TrainerParts& parts, const BatchLoader& train);

/// As checkRanksAgree(), for the optimizers and their options: each rank updates its part of the
/// parameters by its own. The ranks have the same model.
void checkOptimizersAgree(const TrainerParts& parts);

}  // namespace steptape::detail
