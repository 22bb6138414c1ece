// SPDX-License-Identifier: Apache-2.0
#include "mpi/find_nodes.h"

#include <algorithm>
#include <array>

namespace steptape::mpi::detail {
namespace {

using steptape::detail::GroupMap;

/// Returns the lowest rank that shares memory with this one.
int lowestRankOfNode(MPI_Comm communicator, int rank) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Bcast(&rank, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  return rank;
}

struct PlaceMessage {
  int nodeId;
  std::array<char, 124> nodeName;
};

}  // namespace

GroupMap findNodes(MPI_Comm communicator, int ranksPerNode) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  const std::string host = Communicator().nodeName();
  GroupMap::Place mine = steptape::detail::simulatedPlace(host, rank, ranksPerNode);
  if (ranksPerNode == 0) {
    mine.nodeId = lowestRankOfNode(communicator, rank);
  }

  std::vector<PlaceMessage> messages(static_cast<std::size_t>(size));
  PlaceMessage& message = messages[static_cast<std::size_t>(rank)];
  message.nodeId = mine.nodeId;
  const std::string name = mine.nodeName.substr(0, message.nodeName.size() - 1);
  std::copy(name.begin(), name.end(), message.nodeName.begin());
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, messages.data(), sizeof(PlaceMessage), MPI_BYTE,
                communicator);

  std::vector<GroupMap::Place> places;
  places.reserve(messages.size());
  for (const PlaceMessage& other : messages) {
    places.push_back({other.nodeId, other.nodeName.data()});
  }
  return GroupMap(std::move(places), rank);
}

}  // namespace steptape::mpi::detail
