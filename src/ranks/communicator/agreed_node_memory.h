// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "steptape/ranks/communicator.h"

#include "ranks/communicator/group_map.h"

namespace steptape::detail::ranks {

// The collective parts of Communicator::allocateNodeMemory().

// While all is well, they reduce a few numbers; only errors travel as texts of all ranks.

/// Collective.
/// @return a random number, the same on all ranks and different in each call.
/// @throws Error(kRankMismatch) on all ranks if ranks of one node request different sizes.
STEPTAPE_EXPORT std::uint64_t agreeOnBytes(Communicator& communicator, const GroupMap& group,
                                           std::size_t bytes);

/// Collective.
/// @param failure Error of this rank; empty for success.
/// @param why     Set to the error of the first failing rank, the same on every rank. May be null.
/// @return whether every rank succeeded.
STEPTAPE_EXPORT bool agreeOnSuccess(Communicator& communicator, const GroupMap& group,
                                    const std::string& failure, std::string* why);

}  // namespace steptape::detail::ranks
