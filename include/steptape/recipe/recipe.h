// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

#include <c10/core/Device.h>

namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// Multiplies the learning rate of every parameter group.
///
/// With `factor` = the number of ranks this is the linear scaling rule: a batch that is `size`
/// times as large takes steps that are `size` times as long.
///
/// @throws Error(kInvalidArgument) if `factor` is not positive.
/// @threads Not thread-safe: one thread at a time.
/// @source Goyal et al., "Accurate, Large Minibatch SGD", arXiv:1706.02677, section 2.1.
STEPTAPE_EXPORT void scaleLearningRate(torch::optim::Optimizer& optimizer, double factor);

/// The learning rate of the first parameter group; NaN if there is none.
STEPTAPE_EXPORT double learningRateOf(const torch::optim::Optimizer& optimizer);

/// The device for a rank: the CUDA devices of its node go round among the node's ranks; the CPU
/// where there is none.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT c10::Device deviceForLocalRank(const Communicator& world);
/// As above, on a node with `deviceCount` CUDA devices.
///
/// @throws Error(kInvalidArgument) if a number is negative.
STEPTAPE_EXPORT c10::Device deviceForLocalRank(int localRank, int deviceCount);

/// Whether matrix products and convolutions of float32 on CUDA devices may round their inputs to
/// TF32: 11 bits of each number instead of 24, and several times as fast from Ampere on. For the
/// whole process; nothing changes on other devices.
STEPTAPE_EXPORT void allowTf32(bool allowed);
/// Such as "matrix products off, convolutions on", for logs.
STEPTAPE_EXPORT std::string describeTf32();

/// Gives LibTorch's generators, on all devices of this process, a seed of this rank's own.
///
///     torch::manual_seed(seed);               // the same weights on every rank,
///     Net model;
///     steptape::seedRank(seed, *world);       // then dropout and augmentation of its own for each
///
/// Not a collective. @return the seed: rankSeed(seed, world.rank()).
STEPTAPE_EXPORT std::uint64_t seedRank(std::uint64_t seed, const Communicator& world);

/// The seed of a rank. Mixed thoroughly, so that neither the ranks of one run nor those of runs
/// with neighboring seeds draw the same numbers.
///
/// @source Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014:
///         the output function of SplitMix64 with Stafford's variant 13 of the constants.
STEPTAPE_EXPORT std::uint64_t rankSeed(std::uint64_t seed, int rank);

/// Makes the C library's malloc keep what is freed, up to 512 MiB, for what comes next.
///
/// Every training step frees the activations and gradients of the one before and takes as much
/// again. By default glibc gives such memory back to the system each time, and each page of it
/// costs a page fault in the next step.
///
/// @return false where the C library has no such switch; nothing is changed then.
/// @threads Call it before other threads run. For the whole process.
/// @source mallopt(3): M_MMAP_THRESHOLD, M_TRIM_THRESHOLD.
STEPTAPE_EXPORT bool keepFreedMemory();

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

/// Names and values, in the order to show them.
using DescriptionRows = std::vector<std::pair<std::string, std::string>>;

/// What a run ran on: ranks and hosts; per rank threads, cores that it is bound to, device and
/// random seed; TF32; the scheduler's job; the variables of OpenMP (`OMP_...`, `KMP_...`) and the
/// BLAS that are set on the root; versions of LibTorch and Steptape, compiler.
///
///     auto rows = steptape::describeRun(*world);
///     rows.emplace_back("batch size", "64");
///     writer.addText("configuration", steptape::markdownTable(rows), 0);
///
/// The same rows on every rank. Collective: hosts and numbers come from all ranks.
STEPTAPE_EXPORT DescriptionRows describeRun(Communicator& world);

/// The rows as a Markdown table for addText(); '|' in a value is escaped.
STEPTAPE_EXPORT std::string markdownTable(const DescriptionRows& rows);

}  // namespace steptape
