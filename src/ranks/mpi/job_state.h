// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::mpi::detail {

/// Returns whether MPI may be called: it is initialized and not being finalized.
bool isMpiRunning();

/// Between the two, MPI may be called if the first returned true: MPI_Finalize(), on any thread,
/// waits for the second. For calls that do not wait for other ranks.
///
/// @threads Thread-safe.
bool beginMpiUse();
void endMpiUse();

/// Makes MPI_Finalize() wait for endMpiUse(). REQUIRES: isMpiRunning()
void watchForFinalize();

/// Returns why MPI may not be called; empty if it may.
std::string noMpiBecause();
/// @throws Error(kFailedPrecondition) with `caller` unless MPI may be called.
void requireMpi(const char* caller);

/// Returns what MPI_Get_library_version() gives.
std::string libraryVersion();

/// Returns why the world is not the job that a launcher has started; empty if it is. See
/// ranks/communicator/launch.h. REQUIRES: isMpiRunning()
std::string foreignLauncherBecause();

/// Releases the communicator that world() keeps.
void forgetWorld();

}  // namespace steptape::mpi::detail
