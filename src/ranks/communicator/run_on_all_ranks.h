// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

namespace steptape::detail::ranks {

/// Calls `action` on every rank and reports a failure on every rank. Otherwise, the other ranks
/// would wait in their next collective for the failed one. Collective.
///
/// @param what Name of the action, by which ranks are compared; see CollectiveOptions::name.
/// @throws Error, the same on every rank, with the error of the lowest failing rank.
STEPTAPE_EXPORT void runOnAllRanks(Communicator& communicator, const std::string& what,
                                   const std::function<void()>& action);

/// The same for an action that has ended: reports the failure of a rank on every rank. Collective.
///
/// @param code, failure Of this rank, with the rank's name; an empty failure is none.
STEPTAPE_EXPORT void throwIfAnyRankFailed(Communicator& communicator, const std::string& what,
                                          ErrorCode code, const std::string& failure);

}  // namespace steptape::detail::ranks
