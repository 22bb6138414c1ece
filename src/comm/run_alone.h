// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/collective_call.h"

namespace steptape::detail {

/// Carries a collective out in a group of one rank.
///
/// @throws Error(kInvalidArgument) if the one part of a reduceScatter is not all of it.
void runAlone(const CollectiveCall& call);

}  // namespace steptape::detail
