// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/status.h"

namespace steptape::detail::train {

// The files of a CheckpointStore, as the root sees them.

/// `<directory>/checkpoint_<step>.pt`.
std::string checkpointPathOf(const std::string& directory, std::int64_t step);

/// `<directory>/checkpoint_best.pt`.
std::string bestPathOf(const std::string& directory);

/// Lists the checkpoints, newest first. A `checkpoint.pt` that is a file and not a link was written
/// after all others and comes first.
///
/// @return kIoError if the directory exists and cannot be read.
Status listCheckpoints(const std::string& directory, std::vector<std::string>& paths);

/// Makes `checkpoint.pt` another name of the checkpoint of `step`, or a copy of it if the file
/// system has no links. At any time the name is that of the old or of the new checkpoint.
Status nameNewest(const std::string& directory, std::int64_t step);

/// Makes `checkpoint_<step>.pt` another name of the best checkpoint, or a copy of it if the file
/// system has no hard links. The file remains when the best checkpoint is replaced.
Status nameBestByStep(const std::string& directory, std::int64_t step);

/// Removes the temporary files of jobs that died while they wrote a checkpoint.
void removeLeftovers(const std::string& directory);

/// Removes the checkpoints of steps after `newestStep`, left by an abandoned run, and all but the
/// newest `keep` of the rest. Ignores files that cannot be removed.
void removeOthers(const std::string& directory, std::int64_t newestStep, std::int64_t keep);

}  // namespace steptape::detail::train
