// SPDX-License-Identifier: Apache-2.0
#include "ranks/mpi/find_nodes.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "steptape/ranks/communicator.h"

#include "ranks/engine/protocol.h"

namespace steptape::mpi::detail {
namespace {

using steptape::detail::ranks::GroupMap;

/// Returns the lowest rank that shares memory with this one.
int lowestRankOfNode(MPI_Comm communicator, int rank) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Bcast(&rank, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  return rank;
}

/// What each rank tells the others. Its size must stay, because ranks of other versions receive it.
struct PlaceMessage {
  int nodeId;
  std::array<char, 84> nodeName;
  std::array<char, 40> protocol;
};
static_assert(sizeof(PlaceMessage) == 128);

template <std::size_t kSize>
void copyText(const std::string& text, std::array<char, kSize>& to) {
  std::copy_n(text.begin(), std::min(text.size(), kSize - 1), to.begin());
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
  PlaceMessage& message = messages[static_cast<std::size_t>(rank)];
  message.nodeId = mine.nodeId;
  copyText(mine.nodeName, message.nodeName);
  copyText(steptape::detail::ranks::protocolText(), message.protocol);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, messages.data(), sizeof(PlaceMessage), MPI_BYTE,
                communicator);

  std::vector<GroupMap::Place> places;
  places.reserve(messages.size());
  for (const PlaceMessage& other : messages) {
    if (other.protocol != messages.front().protocol) {
      steptape::detail::ranks::throwStartMismatch(static_cast<int>(places.size()),
                                                  other.nodeName.data(), other.protocol.data(),
                                                  messages.front().protocol.data());
    }
    places.push_back({other.nodeId, other.nodeName.data()});
  }
  return GroupMap(std::move(places), rank);
}

}  // namespace steptape::mpi::detail
