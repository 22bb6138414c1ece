// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "comm/collective_call.h"

namespace steptape::testing {

/// Carries a collective out for all ranks of a group, which share this process's memory.
///
/// Results are combined in the order of the ranks.
///
/// @param callByRank Equal in what CollectiveCall::describe() says.
/// @return why it cannot be carried out, where that shows only now; empty if it was.
std::string carryOut(const std::vector<detail::CollectiveCall>& callByRank);

}  // namespace steptape::testing
