// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/group_map.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "steptape/ranks/communicator.h"

namespace steptape::detail::ranks {

GroupMap::GroupMap(std::vector<Place> placeByRank, int rank)
    : placeByRank_(std::move(placeByRank)), rank_(rank) {
  std::unordered_map<int, int> nodes;  // numbers, in the order of their lowest ranks
  for (int other = 0; other < size(); ++other) {
    const int node = place(other).nodeId;
    nodes.emplace(node, static_cast<int>(nodes.size()));
    if (node == place(rank_).nodeId) {
      localRank_ = other == rank_ ? localSize() : localRank_;
      ranksOfNode_.push_back(other);
    }
  }
  crossRank_ = nodes.at(place(rank_).nodeId);
  crossSize_ = static_cast<int>(nodes.size());
}

std::string GroupMap::nameOf(int rank) const {
  return rankAndNode(rank, place(rank).nodeName);
}

std::string GroupMap::namesOf(const std::vector<int>& ranks) const {
  std::string names;
  for (const int rank : ranks) {
    names += (names.empty() ? "" : ", ") + nameOf(rank);
  }
  return names;
}

GroupMap GroupMap::part(const std::vector<int>& ranks) const {
  std::vector<Place> places;
  places.reserve(ranks.size());
  for (const int rank : ranks) {
    places.push_back(place(rank));
  }
  const auto mine = std::find(ranks.begin(), ranks.end(), rank_);
  return GroupMap(std::move(places), static_cast<int>(mine - ranks.begin()));
}

GroupMap::Place simulatedPlace(const std::string& host, int rank, int ranksPerNode) {
  if (ranksPerNode == 0) {
    return {0, host};
  }
  const int node = rank / ranksPerNode;
  return {node, host + "/" + std::to_string(node)};
}

}  // namespace steptape::detail::ranks
