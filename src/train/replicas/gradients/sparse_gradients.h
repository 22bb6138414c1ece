// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/ranks/communicator.h"

#include "train/replicas/gradients/gradient_slots.h"

namespace steptape::detail::train {

/// Replaces every rank's sparse gradient by the sum of all ranks' gradients, times `scale`:
/// coalesced, and bit-identical on all ranks. A dense gradient is made sparse first; a rank without
/// a gradient adds nothing. If no rank has one, it stays undefined. Collective.
///
/// @cost Two allgathers, of the indices and of the values.
void exchangeSparseGradient(const GradientSlot& slot, Communicator& world, double scale);

}  // namespace steptape::detail::train
