// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/events/plugin_content.h"
#include "steptape/train/trainer_options.h"

namespace steptape::detail::train {

/// Returns the layout of TensorBoard's page Custom Scalars: first the curves of learning and speed,
/// then those of the optimizer, collapsed.
///
/// @param hasBand Whether `loss/train` has a minimum and a maximum over the ranks.
CustomScalarsLayout runCharts(const TrainerOptions& options, bool hasBand);

}  // namespace steptape::detail::train
