// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "tools/steptape/jobs/job_signals.h"

namespace steptape::tools {

// Starting and ending the processes of a job.

struct StartedProcess {
  pid_t process = -1;
  int error = 0;  ///< The errno if it could not be started.
};

/// Starts the launcher of a job, with the standard streams of this process.
///
/// If this process dies, in whatever way, the started one gets a signal.
///
/// @param ownGroup Whether it gets a process group of its own, which the terminal's signals do not
///                 reach.
/// @param deathSignal The signal that it gets if this process dies.
StartedProcess startJob(const std::vector<std::string>& command, const JobSignals& signals,
                        bool ownGroup, int deathSignal);

/// Returns whether this process belongs to the group to which its terminal sends Ctrl-C.
bool isInForeground();

/// Makes this process the parent of every process of its jobs whose parent dies.
void adoptOrphans();

/// Returns the children of this process that are not in a process group, ended ones as well.
std::vector<pid_t> childrenOutside(pid_t group);

}  // namespace steptape::tools
