// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/event/custom_scalars_layout.h"
#include "steptape/trainer/trainer_options.h"

namespace steptape::detail {

/// The curves of a run as TensorBoard's page Custom Scalars shows them: what the model learns and
/// how fast it is trained first, the optimizer folded below.
///
/// @param hasBand Whether `loss/train` has a minimum and a maximum over the ranks.
CustomScalarsLayout runCharts(const TrainerOptions& options, bool hasBand);

}  // namespace steptape::detail
