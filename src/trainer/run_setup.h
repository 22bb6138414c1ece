// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/trainer/batch_loader.h"
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

/// Compares what decides how many collectives a run makes, and what is in them. Collective.
///
/// @throws Error(kRankMismatch) on every rank, naming the first rank and option that differs.
void checkRanksAgree(const TrainerOptions& options, const BatchLoader& train, Communicator& world);

}  // namespace steptape::detail
