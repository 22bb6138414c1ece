// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/control_group_directories.h"
#include "process/blackbox/kernel_kills.h"
#include "process/blackbox/state_page.h"

// What the operating system and the launcher tell about this process.

namespace steptape::detail::process {

/// Numbers are -1 and the text is empty if unknown.
struct JobFacts {
  int rank = -1;
  int worldSize = -1;
  int localRank = -1;
  std::string jobId;
};

/// Reads the variables of mpiexec (Open MPI, MPICH, Intel MPI), srun, torchrun and of the
/// schedulers.
JobFacts jobFacts();

/// Returns the arguments of this process, separated by spaces.
std::string commandLine();

/// Returns whether a debugger holds this process.
STEPTAPE_EXPORT bool isBeingDebugged();

/// Measures the memory of this process and of its control group: of the group around it that has
/// the lowest limit, which a scheduler may set for the step or for the job.
///
/// @cost Some reads of small files in /proc and /sys: about 50 us, and in version 1 of control
///       groups 10 us for each group in the limited one.
STEPTAPE_EXPORT MemoryUse measureMemory();
/// Measures that of other control groups, which have the controller "memory".
STEPTAPE_EXPORT MemoryUse measureMemory(const base::ControlGroupDirectories& groups);

/// Returns the counter whose number is MemoryUse::oomKills.
KernelKills kernelKillsOfOwnGroup();

}  // namespace steptape::detail::process
