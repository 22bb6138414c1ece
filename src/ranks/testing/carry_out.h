// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ranks/communicator/collective_call.h"

namespace steptape::testing {

/// Executes a collective for all ranks of a group, which share this process's memory.
///
/// Combines results in the order of the ranks.
///
/// @param callByRank All have the same CollectiveCall::describe().
/// @return why it cannot be executed, if only this function can detect it; empty on success.
std::string carryOut(const std::vector<detail::ranks::CollectiveCall>& callByRank);

}  // namespace steptape::testing
