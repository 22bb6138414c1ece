// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/reader/run_files.h"
#include "steptape/reader/run_reader.h"

#include "tools/steptape/runs/name_filter.h"
#include "tools/steptape/terminal/progress.h"

namespace CLI {
class App;
}

namespace steptape::tools {

/// Adds the argument PATH..., which every command that reads runs takes.
void addPathsArgument(CLI::App* command, std::vector<std::string>* paths);

/// The runs at and below `paths`, in the order of their directories. Files that are given one by
/// one are one run with the others of their directory; what is given twice counts once.
/// @throws Error(kIoError) if there is no event file at or below one of them.
std::vector<RunFiles> runsOf(const std::vector<std::string>& paths);

/// The runs whose directory the pattern is found in.
/// @throws Error(kIoError) if there is none.
std::vector<RunFiles> selectRuns(std::vector<RunFiles> runs, const NamePattern& pattern);

/// The bytes of all files of `runs`; one that is not there counts nothing.
std::uint64_t totalBytes(const std::vector<RunFiles>& runs);

/// Reads a whole run as it lies there now, past damage to the end of each file.
///
/// @param progress Goes on by the run's bytes. REQUIRES: outlives the reader's last update().
RunReader readRun(const RunFiles& run, Progress* progress);

/// Tells the user on the error stream, one line for each, what bytes of files could not be read.
///
/// @return kExitProblem if one is damaged. A file that ends inside a record is only mentioned: its
///         writer may be at work.
int reportProblems(const std::vector<Damage>& problems);

}  // namespace steptape::tools
