// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ranks/communicator/collective_call.h"

namespace steptape::detail::ranks {

/// Executes a collective in a group of one rank.
///
/// @throws Error(kInvalidArgument) if the only part of a reduceScatter does not have all elements.
void runAlone(const CollectiveCall& call);

}  // namespace steptape::detail::ranks
