// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/export.h"

#include "process/blackbox/job_identity.h"

namespace steptape::detail::ranks {

/// How the ranks of a job reach each other.
enum class LaunchKind {
  kAlone,  ///< The job is this process.
  kMpi,    ///< MPI's launcher has started them.
  kStore,  ///< They meet at a key-value store, whose address is in their environment.
};

/// What a launcher has told this process in its environment.
struct Launch {
  LaunchKind kind = LaunchKind::kAlone;
  std::string launcher;  ///< For messages: "torchrun".
  int rank = 0;
  int size = 1;
  std::string host;  ///< Of the store.
  int port = 0;
  /// Where the store is instead, in this order, while another service holds a port that nobody
  /// chose; empty for MASTER_PORT.
  std::vector<int> otherPorts;
  process::JobIdentity job;
  bool isServedByAgent = false;  ///< Whether the launcher serves the store; else rank 0 does.
};

/// Which kinds of launches the program can use.
struct LaunchSupport {
  bool hasMpi = false;
  bool hasStore = false;
};

/// Returns the launch that this process is part of.
///
/// - torchrun, or any program that sets `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT`.
/// - srun, by `SLURM_PROCID` and `SLURM_STEP_NUM_TASKS`. Without `MASTER_ADDR` and `MASTER_PORT`,
///   the store is on the first node of the step, at a port that depends on job and step, or at one
///   of a few others if that is taken.
/// - MPI, by the variables of Open MPI, of MPICH and its relatives, and of PMIx.
///
/// `STEPTAPE_LAUNCHER` chooses one: `mpi`, `torchrun`, `srun` or `none`.
///
/// @param variable Returns the value of an environment variable, or null.
/// @throws Error(kFailedPrecondition) if variables are missing, or if two launchers contradict each
///         other; Error(kInvalidArgument) if a variable has no possible value.
STEPTAPE_EXPORT Launch findLaunch(const LaunchSupport& support,
                                  const process::VariableLookup& variable);
/// Looks into the environment of this process.
STEPTAPE_EXPORT Launch findLaunch(const LaunchSupport& support);

/// The world that MPI made when it was initialized.
struct MpiWorld {
  std::string mpiVersion;  ///< As MPI_Get_library_version() names it.
  int size = 1;
};

/// Returns why the ranks that a launcher has started are not the world that MPI made; empty if they
/// are, if no launcher has told a number, or if `STEPTAPE_LAUNCHER` is `none`.
///
/// A launcher of one MPI does not speak to the library of another one. The library then makes a
/// world of one rank in each process, without an error, and all of them would log into one run.
///
/// The variables of the library's own launchers count; those of others, and of Slurm's step, only
/// where these are missing: a launcher may run inside another one. A world that is larger than they
/// tell is accepted: ranks can join it later.
///
/// @throws Error(kInvalidArgument) if a variable has no possible value.
STEPTAPE_EXPORT std::string foreignLauncherBecause(const MpiWorld& world,
                                                   const process::VariableLookup& variable);
/// Looks into the environment of this process.
STEPTAPE_EXPORT std::string foreignLauncherBecause(const MpiWorld& world);

/// Returns what to warn of if this process, which no launcher has started, runs in an allocation of
/// Slurm for several tasks; else empty, also if `STEPTAPE_LAUNCHER` is set.
STEPTAPE_EXPORT std::string aloneInAllocation(const process::VariableLookup& variable);
/// Looks into the environment of this process, and prints the warning to stderr.
STEPTAPE_EXPORT void warnIfAloneInAllocation();

/// Returns what to note before Open MPI is initialized in a step of srun that does not speak PMIx:
/// MPI_Init() then ends the process, unless Open MPI was built with Slurm's older interface, and
/// tells of no way that works. Only for rank 0 of the step; else empty.
///
/// @param library As MPI_Get_library_version() names it.
STEPTAPE_EXPORT std::string missingPmixNote(const std::string& library,
                                            const process::VariableLookup& variable);
/// Looks into the environment of this process, and prints the note to stderr.
STEPTAPE_EXPORT void noteIfPmixIsMissing(const std::string& library);

/// Returns a short name of an MPI library: "Open MPI v4.1.4", "MPICH 4.0.2".
///
/// @param version As MPI_Get_library_version() gives it.
STEPTAPE_EXPORT std::string nameOfMpiLibrary(const std::string& version);

/// Returns the first host of a node list as Slurm writes it: "node[07-12,20],other" gives "node07".
STEPTAPE_EXPORT std::string firstHostOf(const std::string& nodeList);

}  // namespace steptape::detail::ranks
