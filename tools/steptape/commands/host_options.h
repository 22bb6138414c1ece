// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/hosts/job_views.h"

namespace CLI {
class App;
}

namespace steptape::tools {

/// What --help says about jobs on several machines.
inline constexpr char kHostsNote[] =
    "A job on several machines is shown as one: its number in Slurm suffices, on the login node as "
    "well, and inside its allocation its log directory. The machines are asked by srun, or by ssh "
    "if --hosts names them, for at most 20 seconds; each one that does not answer is named.";

/// Adds --hosts and --rsh.
void addHostOptions(CLI::App* command, JobSelection* jobs);

/// Returns the selection with what the user has named: a job of the scheduler if it is the number
/// of one and no such path exists, else a path; nothing if it is empty.
JobSelection withJob(JobSelection jobs, const std::string& named);

}  // namespace steptape::tools
