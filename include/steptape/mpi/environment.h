// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape::mpi {

/// Which threads of a rank may call MPI; the names and the order are MPI's.
enum class ThreadLevel {
  kSingle,      ///< The rank has one thread.
  kFunneled,    ///< Several threads, of which the one that initialized MPI calls it.
  kSerialized,  ///< Any thread, one at a time.
  kMultiple,    ///< Any thread at any time; some MPIs get slower.
};

/// How an Environment initializes MPI.
struct EnvironmentOptions {
  /// The least that is needed. The library itself gets on with kFunneled: its background threads
  /// never call MPI.
  ThreadLevel threadLevel = ThreadLevel::kFunneled;

  /// What MPI is asked for; less is taken, down to `threadLevel`. At kMultiple collectives can run
  /// on another thread beside the one that computes, see Communicator::worksOnAnyThread(). With
  /// Open MPI 4.1 on one node it costs nothing that can be measured: an allreduce of one float
  /// takes 1.2 microseconds at either level. Lower it for an MPI that gets slower.
  ThreadLevel preferredThreadLevel = ThreadLevel::kMultiple;
};

/// MPI, for the scope of the object: initializes it only if nobody has, and finalizes only what it
/// initialized. Make one at the top of main(), before anything that talks to other ranks.
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
/// Nobody is left hanging: where the scope ends because an exception passes through it, or after an
/// operation of a communicator ran out of time, the destructor calls MPI_Abort. MPI_Finalize waits
/// for all ranks, and the others may be waiting for this one in another operation. So an exception
/// that is caught outside of the scope ends the whole job, with exit code 1, and its text is not
/// printed, because a destructor cannot know it; abort() prints it. In a program whose MPI somebody
/// else initialized, ending it is theirs.
///
/// @threads Not thread-safe: the thread that calls MPI.
class STEPTAPE_EXPORT Environment {
 public:
  /// @param argc,argv As main() got them; MPI may take out arguments of its own.
  /// @throws Error(kFailedPrecondition) if MPI was finalized already, or if it gives less than
  ///         `options.threadLevel`. A foreign MPI_Init() of level kSingle is enough for kFunneled.
  Environment(int& argc, char**& argv, const EnvironmentOptions& options = {});
  explicit Environment(const EnvironmentOptions& options = {});
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// Finalizes or aborts, as above. Never throws.
  ~Environment();

  /// Prints the rank and `why` to stderr and ends the job on all ranks with exit code 1. For a
  /// failure of this rank alone: the others would wait for it until their operations run out of
  /// time. Does not return; what writers had not flushed is lost.
  [[noreturn]] void abort(const std::string& why) const;

  /// What MPI gives; may be more than was asked.
  ThreadLevel threadLevel() const { return threadLevel_; }

  /// Whether this object initialized MPI, and so will finalize it.
  bool ownsMpi() const { return ownsMpi_; }

 private:
  void initialize(int* argc, char*** argv, const EnvironmentOptions& options);

  ThreadLevel threadLevel_ = ThreadLevel::kSingle;
  bool ownsMpi_ = false;
  int exceptionsAtStart_ = 0;
};

/// All ranks of the job: an MpiCommunicator over a duplicate of MPI_COMM_WORLD.
///
/// The first call is a collective, with the bound of MpiCommunicatorOptions::timeout; later calls
/// return the same communicator at no cost. May outlive MPI_Finalize, but not work after it.
///
/// @throws Error(kFailedPrecondition) if MPI is not initialized or finalized already;
///         Error(kDeadlineExceeded) if a rank does not come.
/// @threads Not thread-safe: the thread that calls MPI.
STEPTAPE_EXPORT std::shared_ptr<Communicator> world();

}  // namespace steptape::mpi
