// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/log/run_reader.h"

#include "tools/steptape/runs/name_filter.h"
#include "tools/steptape/terminal/progress.h"

namespace CLI {
class App;
}

namespace steptape::tools {

/// Adds the argument PATH... to commands that read runs.
void addPathsArgument(CLI::App* command, std::vector<std::string>* paths);

/// Returns a message that no path has an event file. It names a file of another library, if there
/// is one in or below them.
std::string noEventFileIn(const std::vector<std::string>& paths);

/// Returns the runs at and below `paths`, ordered by directory. Files of one directory are one
/// run; a repeated path counts once. A directory that several of the paths reach by different
/// names, such as a link "latest", is one run too, with a note on standard error.
///
/// @param unreadable Receives the directories that could not be read: see listRuns().
/// @throws Error(kIoError) if there is no event file at or below one of `paths`.
std::vector<RunFiles> runsOf(const std::vector<std::string>& paths,
                             std::vector<Damage>* unreadable);

/// Returns the runs whose directory contains a match of the pattern.
/// @throws Error(kIoError) if there is none.
std::vector<RunFiles> selectRuns(std::vector<RunFiles> runs, const NamePattern& pattern);

/// Returns the size of all files of `runs`; a missing file counts as 0.
std::uint64_t totalBytes(const std::vector<RunFiles>& runs);

/// Reads a whole run as it is now, and skips damage.
///
/// @param progress Advances by the bytes of the run. REQUIRES: outlives the reader's last update().
RunReader readRun(const RunFiles& run, Progress* progress);

/// Reports on standard error, one per line, which bytes of files could not be read.
///
/// @return kExitProblem if a file is damaged. A file that ends inside a record is only noted,
///         because its writer may still be running.
int reportProblems(const std::vector<Damage>& problems);

}  // namespace steptape::tools
