// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

#include <c10/core/Device.h>

namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// Multiplies the learning rate of every parameter group by `factor`.
///
/// With the number of ranks as factor, this is the linear scaling rule: a batch that is `size`
/// times as large makes steps that are `size` times as long.
///
/// @throws Error(kInvalidArgument) if `factor` is not positive.
/// @threads Not thread-safe: one thread at a time.
/// @source Goyal et al., "Accurate, Large Minibatch SGD", arXiv:1706.02677, section 2.1.
STEPTAPE_EXPORT void scaleLearningRate(torch::optim::Optimizer& optimizer, double factor);

/// Returns the learning rate of the first parameter group; NaN if there is none.
STEPTAPE_EXPORT double learningRateOf(const torch::optim::Optimizer& optimizer);

/// Returns the device for a rank: the node's CUDA devices are assigned to its ranks in turn. The
/// CPU if there is no CUDA device.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT c10::Device deviceForLocalRank(const Communicator& world);
/// Returns the device for a rank on a node with `deviceCount` CUDA devices.
///
/// @throws Error(kInvalidArgument) if an argument is negative.
STEPTAPE_EXPORT c10::Device deviceForLocalRank(int localRank, int deviceCount);

/// Sets whether float32 matrix products and convolutions on CUDA devices may round their inputs to
/// TF32: 11 bits of precision instead of 24, and several times as fast on Ampere and later. Applies
/// to the whole process; no effect on other devices.
STEPTAPE_EXPORT void allowTf32(bool allowed);
/// Returns the setting for logs, such as "matrix products off, convolutions on".
STEPTAPE_EXPORT std::string describeTf32();

/// Seeds LibTorch's random number generators, on all devices of this process, differently on each
/// rank.
///
///     torch::manual_seed(seed);               // the same weights on every rank
///     Net model;
///     steptape::seedRank(seed, *world);       // then different dropout and augmentation per rank
///
/// Not collective.
///
/// @return the seed: rankSeed(seed, world.rank()).
STEPTAPE_EXPORT std::uint64_t seedRank(std::uint64_t seed, const Communicator& world);

/// Returns the seed of a rank. The bits are mixed so that neither the ranks of one run nor runs
/// with neighboring seeds draw the same numbers.
///
/// @source Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014: the
///         output function of SplitMix64 with Stafford's variant 13 of the constants.
STEPTAPE_EXPORT std::uint64_t rankSeed(std::uint64_t seed, int rank);

/// Makes the C library's malloc keep up to 512 MiB of freed memory for later allocations.
///
/// Every training step frees the activations and gradients of the previous step and allocates as
/// much again. By default glibc returns such memory to the operating system each time, and each of
/// its pages costs a page fault in the next step.
///
/// @return false if the C library has no such setting; nothing is changed then.
/// @threads Call it before other threads run. Applies to the whole process.
/// @source mallopt(3): M_MMAP_THRESHOLD, M_TRIM_THRESHOLD.
STEPTAPE_EXPORT bool keepFreedMemory();

/// How many threads LibTorch uses.
struct ThreadOptions {
  /// Threads inside one operator. 0: the first of these that is available:
  ///
  /// 1. `OMP_NUM_THREADS`, unless PBS has set it to the cores of a chunk (see 4), or torchrun to 1,
  ///    as it does for several ranks on a node if the user has set nothing;
  /// 2. `SLURM_CPUS_PER_TASK`;
  /// 3. `SLURM_CPUS_ON_NODE` divided by `SLURM_NTASKS_PER_NODE`, or by the ranks on the node;
  /// 4. `NCPUS` in a PBS job, which counts the cores of a chunk or of a rank, depending on the
  ///    request: limited to 5;
  /// 5. this rank's share of the cores: as many as it is bound to, but at most the cores that the
  ///    job may use on this node divided by the ranks on the node.
  ///
  /// 3 to 5 give at most as many threads as cores that the rank is bound to. The number of ranks on
  /// the node is Communicator::localSize(), or the number from Open MPI
  /// (`OMPI_COMM_WORLD_LOCAL_SIZE`), MPICH (`MPI_LOCALNRANKS`), PALS (`PALS_LOCAL_SIZE`) or Flux
  /// (`FLUX_JOB_SIZE` divided by `FLUX_JOB_NNODES`) if that is larger: a program may start without
  /// our communicator.
  std::int64_t intraOp = 0;

  /// Operators that may run concurrently, in TorchScript programs that fork. 0: LibTorch's default.
  std::int64_t interOp = 0;
};

/// The number of threads on this rank, as planThreads() determines it.
struct ThreadPlan {
  int intraOp = 1;     ///< Positive.
  int interOp = 0;     ///< As in the options.
  std::string source;  ///< Where intraOp comes from, such as "SLURM_CPUS_PER_TASK" or "the caller".
};

/// Determines the number of threads from the options and the environment; changes nothing.
///
/// @throws Error(kInvalidArgument) if a number in the options is negative.
/// @source The schedulers' manuals: sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"; PBS Professional
///         User's Guide, "Environment variables"; mpirun(1) of Open MPI; flux-environment(7), "JOB
///         ENVIRONMENT"; mpiexec of HPE PALS as on Aurora and Polaris; torch/distributed/run.py of
///         PyTorch 2.13.
STEPTAPE_EXPORT ThreadPlan planThreads(const ThreadOptions& options, const Communicator& world);

/// Sets LibTorch's number of threads on this rank, as planThreads() determines it.
///
/// More threads than cores on a node slow every rank down, and LibTorch by default starts one per
/// core in each rank. Call it before the first tensor operation.
///
/// @return the number of threads inside one operator.
/// @throws Error(kInvalidArgument) as for planThreads(); Error(kFailedPrecondition) if `interOp`
///         can no longer be set because it was set before or operators have already run
///         concurrently.
STEPTAPE_EXPORT int setThreads(const ThreadOptions& options, const Communicator& world);

/// Describes the result of planThreads(): "4 threads per operator (SLURM_CPUS_PER_TASK), operators
/// at once as LibTorch has it".
STEPTAPE_EXPORT std::string describeThreads(const ThreadOptions& options,
                                            const Communicator& world);

/// Returns the cores that this process may run on, such as "0-3,8": all cores of the node, unless a
/// launcher binds ranks to cores. "unknown" if the operating system does not tell.
///
/// @source sched_getaffinity(2).
STEPTAPE_EXPORT std::string boundCores();

/// Names and values, in display order.
using DescriptionRows = std::vector<std::pair<std::string, std::string>>;

/// Describes the environment of a run: ranks and hosts; threads, bound cores, device and random
/// seed of each rank; TF32; the scheduler's job; the root's environment variables of OpenMP
/// (`OMP_...`, `KMP_...`) and the BLAS library; versions of LibTorch, Steptape and the compiler.
///
///     auto rows = steptape::describeRun(*world);
///     rows.emplace_back("batch size", "64");
///     writer.addText("configuration", steptape::markdownTable(rows), 0);
///
/// Returns the same rows on every rank. Collective: hosts and numbers come from all ranks.
STEPTAPE_EXPORT DescriptionRows describeRun(Communicator& world);

/// Formats the rows as a Markdown table for addText(); '|' in a value is escaped.
STEPTAPE_EXPORT std::string markdownTable(const DescriptionRows& rows);

}  // namespace steptape
