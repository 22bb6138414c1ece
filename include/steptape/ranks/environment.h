// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace steptape {

/// Which threads of a rank may call MPI. Names and order are MPI's.
enum class MpiThreadLevel {
  kSingle,      ///< The rank has one thread.
  kFunneled,    ///< Several threads; only the one that initialized MPI calls it.
  kSerialized,  ///< Any thread, one at a time.
  kMultiple,    ///< Any thread at any time; slower with some MPI libraries.
};

/// Options of jobs that communicate by MPI.
struct MpiOptions {
  /// Minimum thread level. Steptape itself needs only kFunneled: its background threads never call
  /// MPI.
  MpiThreadLevel threadLevel = MpiThreadLevel::kFunneled;

  /// Thread level to request; a lower level is accepted down to `threadLevel`. At kMultiple,
  /// collectives can run on another thread during computation, see
  /// Communicator::worksOnAnyThread(). Measured with Open MPI 4.1 on one node: an allreduce of one
  /// float takes 1.2 microseconds at either level. Choose a lower level for an MPI library that is
  /// slower at kMultiple.
  MpiThreadLevel preferredThreadLevel = MpiThreadLevel::kMultiple;

  /// Maximum number of elements in one MPI call, whose counts are `int`; larger operations take
  /// several calls. Must be equal on all ranks and at least their number.
  std::int64_t maxCount = std::int64_t{1} << 30;

  /// Whether MPI is GPU-aware, in particular CUDA-aware: MPI_Isend() and MPI_Irecv() accept GPU
  /// memory. GradientSync then sums gradients on GPUs without a copy through main memory if it
  /// cannot use NCCL. Unset: what MPI reports. false on one rank means false on all. Never tried on
  /// a GPU.
  ///
  /// @source MPIX_Query_cuda_support() of Open MPI, MPIX_GPU_query_support() of MPICH.
  std::optional<bool> assumeGpuAware;
};

/// Options of jobs that torchrun, srun, or a program that sets the same variables has started.
struct C10dOptions {
  /// The network interfaces that gloo uses in turn, such as "eth0" or "eth0,eth1". Empty: the
  /// environment variable `GLOO_SOCKET_IFNAME`, or else the interface of this host's name.
  std::string networkInterfaces;
};

/// Options of Environment. Those that the job does not need have no effect.
struct EnvironmentOptions {
  /// Initial Communicator::timeout(). Also limits how long the ranks wait for each other at the
  /// start.
  std::chrono::milliseconds timeout = std::chrono::minutes(10);

  /// Treats each block of this many consecutive ranks as a node: "host/0", "host/1" and so on. Lets
  /// code for several nodes run on one machine. 0: ranks that share memory are on one node. Must be
  /// equal on all ranks.
  int ranksPerNode = 0;

  /// Whether groups of ranks on one node move data through memory that they share. If not, or if
  /// the memory is too small, they use MPI or gloo, as groups of several nodes do. Must be equal on
  /// all ranks.
  bool useNodeMemory = true;

  MpiOptions mpi;
  C10dOptions c10d;
};

namespace detail::ranks {

/// A job in which this process is a rank; of the component that can join it.
class STEPTAPE_EXPORT Job {
 public:
  /// Leaves the job, as the destructor of the component's own Environment.
  virtual ~Job();
  virtual std::shared_ptr<Communicator> world() const = 0;
  [[noreturn]] virtual void abort(const std::string& why) const = 0;
  virtual std::string describe() const = 0;
};

/// Joins the job; the arguments are those of main(), or null.
using JobMaker = std::unique_ptr<Job> (*)(int* argc, char*** argv,
                                          const EnvironmentOptions& options);

/// How components make themselves known, when a program includes their header.
STEPTAPE_EXPORT bool provideMpi(JobMaker make) noexcept;
STEPTAPE_EXPORT bool provideStore(JobMaker make) noexcept;

}  // namespace detail::ranks

/// Joins the job that a launcher has started, for its scope: by MPI under mpiexec, and by the
/// component `c10d` under torchrun, srun, or a program that sets the same variables. A process that
/// no launcher has started is a job of one rank. Construct one at the start of main(), before
/// anything that communicates.
///
///     #include <steptape/environment.h>
///
///     int main(int argc, char** argv) {
///       steptape::Environment environment(argc, argv);
///       try {
///         train(steptape::world());
///       } catch (const std::exception& error) {
///         environment.abort(error.what());
///       }
///     }
///
/// It can use the components that the program links: steptape::mpi, steptape::c10d, both, or none.
///
/// MPI is initialized unless it is already, and finalized only if this object has initialized it.
/// Under torchrun and srun, the ranks meet at LibTorch's TCPStore: at `MASTER_ADDR` and
/// `MASTER_PORT`, where torchrun or rank 0 serves it. srun needs no variables: Steptape then uses
/// the first node of the step. The store and gloo neither encrypt nor authenticate: use them in
/// private networks only.
///
/// A failing rank ends the job: the destructor ends it with exit code 1 if an exception leaves the
/// scope, or if an operation of a communicator has timed out or lost a rank, because the other
/// ranks may be waiting for this one. So an exception caught outside the scope ends the job without
/// its text, which a destructor cannot know; abort() prints the text. If other code initialized
/// MPI, that code must end the job. torchrun restarts the ranks or ends the job, and shows the
/// reason in its summary.
///
/// The environment variable `STEPTAPE_LAUNCHER` decides if more than one launcher can be meant:
/// `mpi`, `torchrun`, `srun` or `none`. A process without a launcher in an allocation of Slurm for
/// several tasks says so on stderr, unless the variable is set.
///
/// @threads Not thread-safe: the thread that calls MPI.
class STEPTAPE_EXPORT Environment {
 public:
  /// @param argc    As passed to main(); MPI may remove its own arguments.
  /// @param argv    As passed to main(); MPI may remove its own arguments.
  /// @param options See EnvironmentOptions.
  /// @throws Error(kFailedPrecondition) if the variables of a launcher are there only in part, if
  ///         two launchers contradict each other, if the program does not link the component for
  ///         the launcher, if another Environment is alive, if MPI is already finalized, or
  ///         provides less than MpiOptions::threadLevel, where an MPI_Init() of other code with
  ///         level kSingle satisfies kFunneled, or if MPI's world has fewer ranks than the launcher
  ///         has started, as if a program of one MPI runs under the `mpiexec` of another;
  ///         Error(kInvalidArgument) if a variable has no possible value; Error(kDeadlineExceeded)
  ///         if a rank does not come in time; Error(kRankMismatch) if the ranks have different
  ///         versions of Steptape or different `WORLD_SIZE`.
  Environment(int& argc, char**& argv, const EnvironmentOptions& options = {});
  explicit Environment(const EnvironmentOptions& options = {});
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// Leaves or ends the job, as described above. Never throws.
  ~Environment();

  /// Prints the rank and `why` to stderr and ends the job, or this process if the launcher then
  /// ends the job. Does not return; data that writers have not flushed is lost.
  [[noreturn]] void abort(const std::string& why) const;

  /// Returns which launcher was found, and how the ranks communicate, for a log: "torchrun, 4 ranks
  /// on 1 node by shared memory, store at localhost:29400".
  std::string describe() const;

 private:
  void join(int* argc, char*** argv, const EnvironmentOptions& options);

  std::unique_ptr<detail::ranks::Job> job_;
};

/// Returns all ranks of the job. The object may outlive the Environment, but must not be used after
/// it.
///
/// @throws Error(kFailedPrecondition) if no Environment is alive.
STEPTAPE_EXPORT std::shared_ptr<Communicator> world();

}  // namespace steptape
