// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"

#include "process/blackbox/rank_state.h"

// What several readers of a RankState want to know.

namespace steptape::detail::process {

/// Returns the collective that a process waits in: the innermost that waits for ranks, else the
/// oldest one in flight; null if there is none.
STEPTAPE_EXPORT const RankState::Collective* collectiveInFlight(const RankState& state);

/// Returns the thread that shows best what a process does: that of its collective, else its first
/// thread, else the one whose zone began last; null if none has a zone.
STEPTAPE_EXPORT const RankState::Thread* mainThread(const RankState& state);

/// Returns the group with this number; null if the process does not belong to it.
STEPTAPE_EXPORT const RankState::Group* groupOf(const RankState& state, std::uint64_t id);

/// Returns where a process is: "step 12, phase backward, zone 'exchange', in allreduce(sum)
/// 'gradients' #25 of ranks 0-3"; empty if nothing is known.
STEPTAPE_EXPORT std::string placeText(const RankState& state);

/// Returns the median time between the last steps, in seconds; 0 if it is unknown.
STEPTAPE_EXPORT double medianStepTime(const RankState& state);

}  // namespace steptape::detail::process
