// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/comm/communicator.h"

#include "parallel/gradients/gradient_slots.h"

namespace steptape::detail {

/// Makes the sum of all ranks' sparse gradients, times `scale`, every rank's gradient: coalesced,
/// the same to the bit on all. A dense one is made sparse first; a rank without one adds nothing;
/// where no rank has one, it stays undefined. Collective.
///
/// Costs two allgathers, of the indices and of the values.
void exchangeSparseGradient(const GradientSlot& slot, Communicator& world, double scale);

}  // namespace steptape::detail
