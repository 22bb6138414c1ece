// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "steptape/base/array_view.h"

#include "ranks/communicator/collective_call.h"

namespace steptape::detail::ranks {

/// Combines `count` elements or moments of each rank, in the order of the ranks.
///
/// @param op     As call.op, or what takes its place.
/// @param parts  By rank.
/// @param result May be one of the parts.
void combineParts(const CollectiveCall& call, ReduceOp op, ArrayView<const void* const> parts,
                  std::size_t count, void* result);

}  // namespace steptape::detail::ranks
