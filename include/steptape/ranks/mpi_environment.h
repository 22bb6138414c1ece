// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"
#include "steptape/ranks/environment.h"

namespace steptape::mpi {

/// Which threads of a rank may call MPI. Names and order are MPI's.
enum class ThreadLevel {
  kSingle,      ///< The rank has one thread.
  kFunneled,    ///< Several threads; only the one that initialized MPI calls it.
  kSerialized,  ///< Any thread, one at a time.
  kMultiple,    ///< Any thread at any time; slower with some MPI libraries.
};

/// Options for initializing MPI.
struct EnvironmentOptions {
  /// Minimum thread level. Steptape itself needs only kFunneled: its background threads never call
  /// MPI.
  ThreadLevel threadLevel = ThreadLevel::kFunneled;

  /// Thread level to request; a lower level is accepted down to `threadLevel`. At kMultiple,
  /// collectives can run on another thread during computation, see
  /// Communicator::worksOnAnyThread(). Measured with Open MPI 4.1 on one node: an allreduce of one
  /// float takes 1.2 microseconds at either level. Choose a lower level for an MPI library that is
  /// slower at kMultiple.
  ThreadLevel preferredThreadLevel = ThreadLevel::kMultiple;
};

/// Initializes MPI for its scope, unless MPI is initialized already, and finalizes only what it
/// initialized. Construct one at the start of main(), before anything that communicates.
///
///     int main(int argc, char** argv) {
///       steptape::mpi::Environment environment(argc, argv);
///       try {
///         train(steptape::mpi::world());
///       } catch (const std::exception& error) {
///         environment.abort(error.what());
///       }
///     }
///
/// A failing rank ends the job. The destructor calls MPI_Abort if an exception leaves the scope, or
/// if an operation of a communicator has timed out. MPI_Finalize would wait for ranks that may be
/// waiting for this one in another operation. So an exception caught outside the scope ends the
/// whole job with exit code 1 and without its text, which a destructor cannot know; abort() prints
/// the text. If other code initialized MPI, that code must end the job.
///
/// @threads Not thread-safe: the thread that calls MPI.
class STEPTAPE_EXPORT Environment {
 public:
  /// @param argc    As passed to main(); MPI may remove its own arguments.
  /// @param argv    As passed to main(); MPI may remove its own arguments.
  /// @param options See EnvironmentOptions.
  /// @throws Error(kFailedPrecondition) if MPI is already finalized, or provides less than
  ///         `options.threadLevel`, where an MPI_Init() of other code with level kSingle satisfies
  ///         kFunneled; or if MPI's world has fewer ranks than the launcher has started, as if a
  ///         program of one MPI runs under the `mpiexec` of another. The environment variable
  ///         `STEPTAPE_LAUNCHER=none` permits that: each process is then a job of its own.
  Environment(int& argc, char**& argv, const EnvironmentOptions& options = {});
  explicit Environment(const EnvironmentOptions& options = {});
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// Finalizes or aborts, as described above. Never throws.
  ~Environment();

  /// Prints the rank and `why` to stderr and ends the job on all ranks with exit code 1. For a
  /// failure on this rank alone, since the others would wait for it until they time out. Does not
  /// return; data that writers have not flushed is lost.
  [[noreturn]] void abort(const std::string& why) const;

  /// Returns the thread level that MPI provides; may be more than requested.
  ThreadLevel threadLevel() const { return threadLevel_; }

  /// Returns whether this object initialized MPI and will finalize it.
  bool ownsMpi() const { return ownsMpi_; }

 private:
  void initialize(int* argc, char*** argv, const EnvironmentOptions& options);

  ThreadLevel threadLevel_ = ThreadLevel::kSingle;
  bool ownsMpi_ = false;
  int exceptionsAtStart_ = 0;
  bool isJobOpen_ = false;  // of several ranks, which exit() would end
};

/// Returns all ranks of the job: an MpiCommunicator over a duplicate of MPI_COMM_WORLD.
///
/// The first call is a collective with the time limit MpiCommunicatorOptions::timeout; later calls
/// return the same communicator at no cost. The object may outlive MPI_Finalize, but must not be
/// used after it.
///
/// @throws Error(kFailedPrecondition) if MPI is not initialized or already finalized, or if a
///         launcher of another MPI has started this process (see Environment);
///         Error(kDeadlineExceeded) if a rank does not arrive.
/// @threads Not thread-safe: the thread that calls MPI.
STEPTAPE_EXPORT std::shared_ptr<Communicator> world();

namespace detail {

/// For steptape::Environment.
STEPTAPE_EXPORT std::unique_ptr<steptape::detail::ranks::Job> joinJob(int* argc, char*** argv);
inline const bool kIsProvided = steptape::detail::ranks::provideMpi(&joinJob);

}  // namespace detail
}  // namespace steptape::mpi
