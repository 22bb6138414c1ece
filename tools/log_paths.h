// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/reader/log_dir.h"
#include "steptape/reader/scalar_series.h"

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

/// Tells the user on the error stream what kept files from being read to their end.
///
/// @return kExitProblem if one is damaged. A file that ends inside a record is only mentioned: its
///         writer may be at work.
int reportProblems(const std::vector<Damage>& problems);

}  // namespace steptape::tools
