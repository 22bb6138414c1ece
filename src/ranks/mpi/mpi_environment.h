// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "steptape/ranks/communicator.h"
#include "steptape/ranks/environment.h"
#include "steptape/ranks/mpi_communicator.h"

namespace steptape::mpi {

/// Initializes MPI for its scope, unless MPI is initialized already, and finalizes only what it
/// initialized: steptape::Environment of a job that communicates by MPI.
///
/// @threads Not thread-safe: the thread that calls MPI.
class Environment {
 public:
  /// @throws Error(kFailedPrecondition) as steptape::Environment.
  Environment(int& argc, char**& argv, const EnvironmentOptions& options = {});
  explicit Environment(const EnvironmentOptions& options = {});
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// Finalizes or aborts as steptape::Environment. Never throws.
  ~Environment();

  /// Prints the rank and `why` to stderr and ends the job on all ranks with exit code 1. For a
  /// failure on this rank alone, since the others would wait for it until they time out. Does not
  /// return; data that writers have not flushed is lost.
  [[noreturn]] void abort(const std::string& why) const;

  /// Returns the thread level that MPI provides; may be more than requested.
  MpiThreadLevel threadLevel() const { return threadLevel_; }

  /// Returns whether this object initialized MPI and will finalize it.
  bool ownsMpi() const { return ownsMpi_; }

 private:
  void initialize(int* argc, char*** argv, const EnvironmentOptions& options);

  MpiThreadLevel threadLevel_ = MpiThreadLevel::kSingle;
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
std::shared_ptr<Communicator> world(const MpiCommunicatorOptions& options = {});

}  // namespace steptape::mpi
