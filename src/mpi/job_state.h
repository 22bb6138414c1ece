// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::mpi::detail {

/// Whether MPI may be called: it is initialised and not finalised.
bool isMpiRunning();

/// @throws Error(kFailedPrecondition) naming `caller` unless MPI may be called.
void requireMpi(const char* caller);

/// Remembers that an operation of this process will never end: MPI_Finalize would wait for it.
void markStuck();
bool isStuck();

/// Lets go of the communicator that world() keeps.
void forgetWorld();

}  // namespace steptape::mpi::detail
