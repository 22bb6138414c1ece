// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ranks/communicator/group_map.h"

#include <mpi.h>

namespace steptape::mpi::detail {

/// Finds which ranks of `communicator` share a node. Collective and blocking: call it when all
/// ranks have just met.
///
/// @param ranksPerNode As MpiCommunicatorOptions::ranksPerNode.
/// @throws Error(kRankMismatch) on every rank if a rank has another Steptape than rank 0.
steptape::detail::ranks::GroupMap findNodes(MPI_Comm communicator, int ranksPerNode);

}  // namespace steptape::mpi::detail
