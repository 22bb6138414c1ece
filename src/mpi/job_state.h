// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::mpi::detail {

/// Whether MPI may be called: it is initialised and not finalised.
bool isMpiRunning();

/// @throws Error(kFailedPrecondition) naming `caller` unless MPI may be called.
void requireMpi(const char* caller);

/// Remembers that an operation of this process will never end: MPI_Finalize would wait for it.
/// Thread-safe.
void markStuck(const std::string& why);
/// What markStuck() was told first; empty if all is well.
std::string stuckBecause();

/// Lets go of the communicator that world() keeps.
void forgetWorld();

}  // namespace steptape::mpi::detail
