// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "steptape/base/export.h"

#include "ranks/communicator/collective_call.h"
#include "ranks/communicator/group_map.h"

namespace steptape::detail::ranks {

// Messages about failing collectives, for all kinds of groups.

/// Returns "ranks meet in different operations: rank 2 (node) is in barrier; expected allgather as
/// rank 0".
///
/// @param descriptionByRank CollectiveCall::describe() of each rank; they differ.
STEPTAPE_EXPORT std::string mismatchText(const std::vector<std::string>& descriptionByRank,
                                         const GroupMap& group);

/// Returns "reduceScatter(sum) of 12 float32: the ranks' parts have 11 elements together".
STEPTAPE_EXPORT std::string partsMismatchText(const CollectiveCall& call, std::size_t total);

/// Returns "allreduce(sum) 'gradients' waits for 60 s for rank 3 (node7)".
///
/// @param what Name of the wait: for a collective, CollectiveCall::title().
STEPTAPE_EXPORT std::string stallText(const std::string& what,
                                      std::chrono::steady_clock::duration waited,
                                      const std::string& missing);

/// Returns "allreduce(sum) 'gradients' of 12 float32 did not end within 600 s on rank 0 (node1) of
/// 4: rank 3 (node7) did not arrive".
///
/// @param missing Empty if all ranks have arrived.
STEPTAPE_EXPORT std::string deadlineText(const CollectiveCall& call,
                                         std::chrono::milliseconds timeout,
                                         const std::string& missing, const GroupMap& group);

/// Returns the same for another operation, "`what` did not end within ... of 4: `why`".
STEPTAPE_EXPORT std::string deadlineText(const std::string& what, std::chrono::milliseconds timeout,
                                         const std::string& why, const GroupMap& group);

}  // namespace steptape::detail::ranks
