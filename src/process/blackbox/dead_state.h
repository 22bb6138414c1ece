// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/export.h"

#include "process/blackbox/box_folder.h"
#include "process/blackbox/process_box.h"

namespace steptape::detail::process {

/// Copies what a dead process kept of its state to a log directory, where `steptape autopsy` finds
/// it.
///
/// @return whether it did.
STEPTAPE_EXPORT bool copyDeadState(const DeadBox& box, const std::string& directory);

/// Moves the state of a dead process that had no run of its own, such as a rank other than the
/// root, to the run in `directory` if that belongs to its job.
///
/// @return whether it did.
STEPTAPE_EXPORT bool moveDeadState(const BoxName& name, const std::string& directory);

/// Removes the state if its process began more than a week ago.
STEPTAPE_EXPORT void removeOldState(DeadBox* box);

/// Removes the oldest states of dead processes, except 512, so that jobs which die again and again
/// do not fill the memory.
///
/// @param boxes Boxes without a run, of processes that may live.
STEPTAPE_EXPORT void removeOldestStates(const std::vector<BoxName>& boxes);

}  // namespace steptape::detail::process
