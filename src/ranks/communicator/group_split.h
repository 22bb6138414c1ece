// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/ranks/communicator.h"

namespace steptape::detail::ranks {

/// Returns the ranks that Communicator::split() puts into this rank's new group, in its order;
/// empty if this rank joins no group. Collective.
STEPTAPE_EXPORT std::vector<int> ranksOfColor(Communicator& communicator, int color, int key);

}  // namespace steptape::detail::ranks
