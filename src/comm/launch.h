// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "steptape/base/export.h"

namespace steptape::detail {

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
///   the store is on the first node of the step, at a port that depends on job and step.
/// - MPI, by the variables of Open MPI, of MPICH and its relatives, and of PMIx.
///
/// `STEPTAPE_LAUNCHER` chooses one: `mpi`, `torchrun`, `srun` or `none`.
///
/// @param variable Returns the value of an environment variable, or null.
/// @throws Error(kFailedPrecondition) if variables are missing, or if two launchers contradict each
///         other; Error(kInvalidArgument) if a variable has no possible value.
STEPTAPE_EXPORT Launch findLaunch(const LaunchSupport& support,
                                  const std::function<const char*(const char*)>& variable);
/// Looks into the environment of this process.
STEPTAPE_EXPORT Launch findLaunch(const LaunchSupport& support);

/// Returns the first host of a node list as Slurm writes it: "node[07-12,20],other" gives "node07".
STEPTAPE_EXPORT std::string firstHostOf(const std::string& nodeList);

}  // namespace steptape::detail
