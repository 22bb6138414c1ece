// SPDX-License-Identifier: Apache-2.0
#include "ranks/mpi/find_nodes.h"

#include <cstddef>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"

#include "ranks/engine/place_message.h"

namespace steptape::mpi::detail {
namespace {

using steptape::detail::ranks::GroupMap;
using steptape::detail::ranks::PlaceMessage;

/// Returns the lowest rank that shares memory with this one.
int lowestRankOfNode(MPI_Comm communicator, int rank) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Bcast(&rank, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  return rank;
}

}  // namespace

GroupMap findNodes(MPI_Comm communicator, int ranksPerNode) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  const std::string host = Communicator().nodeName();
  GroupMap::Place mine = steptape::detail::ranks::simulatedPlace(host, rank, ranksPerNode);
  if (ranksPerNode == 0) {
    mine.nodeId = lowestRankOfNode(communicator, rank);
  }

  std::vector<PlaceMessage> messages(static_cast<std::size_t>(size));
  messages[static_cast<std::size_t>(rank)] = PlaceMessage::of(mine);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, messages.data(), sizeof(PlaceMessage), MPI_BYTE,
                communicator);
  return steptape::detail::ranks::groupMapOf(messages, rank);
}

}  // namespace steptape::mpi::detail
