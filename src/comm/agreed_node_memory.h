// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "steptape/comm/communicator.h"

#include "comm/group_map.h"

namespace steptape::detail {

// The parts of Communicator::allocateNodeMemory() in which all ranks agree.

/// Collective. @throws Error(kRankMismatch) on all ranks if those of a node want other sizes.
STEPTAPE_EXPORT void checkSameBytes(Communicator& communicator, const GroupMap& group,
                                    std::size_t bytes);

/// Collective. @param failure Of this rank; empty for success. @return whether no rank failed; else
/// `why`, where it is not null, names the first that did, the same on every rank.
STEPTAPE_EXPORT bool agreeOnSuccess(Communicator& communicator, const GroupMap& group,
                                    const std::string& failure, std::string* why);

}  // namespace steptape::detail
