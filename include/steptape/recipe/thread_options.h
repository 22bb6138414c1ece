// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape {

/// How many threads LibTorch works with.
struct ThreadOptions {
  /// Threads inside one operator. 0: the first of these that says something:
  ///
  /// 1. `OMP_NUM_THREADS`, unless PBS has set it to the cores of a chunk, see 4;
  /// 2. `SLURM_CPUS_PER_TASK`;
  /// 3. `SLURM_CPUS_ON_NODE` shared by `SLURM_NTASKS_PER_NODE` ranks, or by the ranks on the node;
  /// 4. `NCPUS` in a job of PBS, which counts a chunk's cores or those of a rank, whichever the job
  ///    asked for: no more than 5;
  /// 5. this rank's part of the cores: as many as it is bound to, and no more than the cores that
  ///    the job may use on this node divided by the ranks on the node.
  ///
  /// 3 to 5 give no more threads than cores that the rank is bound to. The ranks on the node are
  /// Communicator::localSize(), or what Open MPI (`OMPI_COMM_WORLD_LOCAL_SIZE`) or MPICH
  /// (`MPI_LOCALNRANKS`) say, if that is more: a program may start without our communicator.
  int intraOp = 0;

  /// Operators that may run at once, in programs of TorchScript that fork. 0: LibTorch's own
  /// number.
  int interOp = 0;
};

/// What ThreadOptions come to on this rank.
struct ThreadPlan {
  int intraOp = 1;     ///< Positive.
  int interOp = 0;     ///< As in the options.
  std::string source;  ///< Who decided on intraOp, such as "SLURM_CPUS_PER_TASK" or "the caller".
};

/// Reads the environment; sets nothing.
///
/// @throws Error(kInvalidArgument) if a number of the options is negative.
/// @source The schedulers' manuals: sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"; PBS Professional
///         User's Guide, "Environment variables"; mpirun(1) of Open MPI.
STEPTAPE_EXPORT ThreadPlan planThreads(const ThreadOptions& options, const Communicator& world);

/// Sets the number of threads of this rank's LibTorch, by planThreads().
///
/// More threads than cores on a node slow every rank down; LibTorch alone starts one per core in
/// each rank. Call it before the first tensor operation.
///
/// @return the number of threads inside one operator.
/// @throws Error(kInvalidArgument) as planThreads(); Error(kFailedPrecondition) if `interOp` can no
///         longer be set, because operators have run at once already or it was set before.
STEPTAPE_EXPORT int setThreads(const ThreadOptions& options, const Communicator& world);

/// What planThreads() comes to, in words: "4 threads per operator (SLURM_CPUS_PER_TASK), operators
/// at once as LibTorch has it".
STEPTAPE_EXPORT std::string describeThreads(const ThreadOptions& options,
                                            const Communicator& world);

/// The cores that this process may run on, such as "0-3,8": all of the node, unless a launcher
/// binds ranks to cores. "unknown" where the system does not say.
///
/// @source sched_getaffinity(2).
STEPTAPE_EXPORT std::string boundCores();

}  // namespace steptape
