// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape::detail {

/// Calls `action` on every rank.
///
/// Collective. A rank that failed alone would leave the others waiting in their next collective;
/// here all learn of it.
///
/// @param what What the ranks are in, for the comparison of ranks; see CollectiveOptions::name.
/// @throws Error, the same on every rank, with what the lowest failing rank threw.
STEPTAPE_EXPORT void runOnAllRanks(Communicator& communicator, const std::string& what,
                                   const std::function<void()>& action);

}  // namespace steptape::detail
