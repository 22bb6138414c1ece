// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "steptape/base/export.h"
#include "steptape/distributed/communicator.h"

namespace steptape::mpi {

/// All ranks of the job: an MpiCommunicator over a duplicate of MPI_COMM_WORLD.
///
/// The first call is a collective, with the bound of MpiCommunicatorOptions::timeout; later calls
/// return the same communicator at no cost. May outlive MPI_Finalize, but not work after it.
///
/// @throws Error(kFailedPrecondition) if MPI is not initialised or finalised already;
///         Error(kDeadlineExceeded) if a rank does not come.
/// @threads Not thread-safe: the thread that calls MPI.
STEPTAPE_EXPORT std::shared_ptr<Communicator> world();

}  // namespace steptape::mpi
