// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace steptape {
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
using JobMaker = std::unique_ptr<Job> (*)(int* argc, char*** argv);

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
/// mpi::Environment and c10d::Environment describe how a job begins and ends, and have options.
///
/// The environment variable `STEPTAPE_LAUNCHER` decides if more than one launcher can be meant:
/// `mpi`, `torchrun`, `srun` or `none`. A process without a launcher in an allocation of Slurm for
/// several tasks says so on stderr, unless the variable is set.
///
/// @threads Not thread-safe: the thread that calls MPI.
class STEPTAPE_EXPORT Environment {
 public:
  /// @param argc As passed to main(); MPI may remove its own arguments.
  /// @param argv As passed to main(); MPI may remove its own arguments.
  /// @throws Error(kFailedPrecondition) if the variables of a launcher are there only in part, if
  ///         two launchers contradict each other, if the program does not link the component for
  ///         the launcher, or if another Environment is alive; and as the component's Environment.
  Environment(int& argc, char**& argv);
  Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment();

  /// Prints the rank and `why` to stderr and ends the job, or this process if the launcher then
  /// ends the job. Does not return; data that writers have not flushed is lost.
  [[noreturn]] void abort(const std::string& why) const;

  /// Returns which launcher was found, and how the ranks communicate, for a log: "torchrun, 4 ranks
  /// on 1 node by shared memory, store at localhost:29400".
  std::string describe() const;

 private:
  void join(int* argc, char*** argv);

  std::unique_ptr<detail::ranks::Job> job_;
};

/// Returns all ranks of the job. The object may outlive the Environment, but must not be used after
/// it.
///
/// @throws Error(kFailedPrecondition) if no Environment is alive.
STEPTAPE_EXPORT std::shared_ptr<Communicator> world();

}  // namespace steptape
