// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "steptape/comm/communicator.h"

#include "comm/group_map.h"

namespace steptape::detail {

// The collective parts of Communicator::allocateNodeMemory().

/// Collective.
/// @throws Error(kRankMismatch) on all ranks if ranks of one node request different sizes.
STEPTAPE_EXPORT void checkSameBytes(Communicator& communicator, const GroupMap& group,
                                    std::size_t bytes);

/// Collective.
/// @param failure Error of this rank; empty for success.
/// @param why     Set to the error of the first failing rank, the same on every rank. May be null.
/// @return whether every rank succeeded.
STEPTAPE_EXPORT bool agreeOnSuccess(Communicator& communicator, const GroupMap& group,
                                    const std::string& failure, std::string* why);

}  // namespace steptape::detail
