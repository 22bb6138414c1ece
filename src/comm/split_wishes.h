// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/comm/communicator.h"

namespace steptape::detail {

/// The ranks that go into one group with this one by Communicator::split(), in the new group's
/// order; empty if it goes into none. Collective.
STEPTAPE_EXPORT std::vector<int> ranksOfColor(Communicator& communicator, int color, int key);

}  // namespace steptape::detail
