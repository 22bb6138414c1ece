// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/status.h"

namespace steptape::detail {

// The files of a CheckpointStore, as the root sees them.

/// `<directory>/checkpoint_<step>.pt`.
std::string checkpointPathOf(const std::string& directory, std::int64_t step);

/// `<directory>/checkpoint_best.pt`.
std::string bestPathOf(const std::string& directory);

/// Lists the checkpoints, newest first. A `checkpoint.pt` that is a file of its own, and no link,
/// was written after all others and comes first.
///
/// @return kIoError if the directory is there and cannot be read.
Status listCheckpoints(const std::string& directory, std::vector<std::string>& paths);

/// Makes `checkpoint.pt` another name of the checkpoint of `step`; where the file system knows no
/// links, a copy of it. At every moment it is the old one or the new one.
Status nameNewest(const std::string& directory, std::int64_t step);

/// Makes `checkpoint_<step>.pt` another name of the best checkpoint, which stays when that one is
/// replaced; where the file system knows no hard links, a copy of it.
Status nameBestByStep(const std::string& directory, std::int64_t step);

/// Removes the temporary files of jobs that died while they wrote a checkpoint.
void removeLeftovers(const std::string& directory);

/// Removes the checkpoints of steps after `newestStep`, which an abandoned run has left, and all
/// but the newest `keep` of the rest. What cannot be removed stays.
void removeOthers(const std::string& directory, std::int64_t newestStep, std::int64_t keep);

}  // namespace steptape::detail
