// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail::ranks {

/// Maps the ranks of a group to nodes.
class STEPTAPE_EXPORT GroupMap {
 public:
  struct Place {
    int nodeId;            ///< Equal for ranks of the same node only.
    std::string nodeName;  ///< For messages.
  };

  GroupMap(std::vector<Place> placeByRank, int rank);

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(placeByRank_.size()); }
  int localRank() const { return localRank_; }
  int localSize() const { return static_cast<int>(ranksOfNode_.size()); }
  int crossRank() const { return crossRank_; }
  int crossSize() const { return crossSize_; }
  /// Returns the ranks of this rank's node, ascending.
  const std::vector<int>& ranksOfNode() const { return ranksOfNode_; }
  const Place& place(int rank) const { return placeByRank_[static_cast<std::size_t>(rank)]; }
  const std::string& nodeName() const { return place(rank_).nodeName; }
  /// Returns a name such as "rank 3 (node7)".
  std::string nameOf(int rank) const;
  /// Like nameOf(), for a local rank of this rank's node.
  std::string nameOfLocal(int localRank) const {
    return nameOf(ranksOfNode_[static_cast<std::size_t>(localRank)]);
  }
  /// Returns names such as "rank 3 (node7), rank 5 (node8)".
  std::string namesOf(const std::vector<int>& ranks) const;

  /// Returns the map of the subgroup `ranks`, in this order. This rank must be one of them.
  GroupMap part(const std::vector<int>& ranks) const;

 private:
  std::vector<Place> placeByRank_;
  int rank_;
  std::vector<int> ranksOfNode_;
  int localRank_ = 0;
  int crossRank_ = 0;
  int crossSize_ = 0;
};

/// Returns the place of `rank` if each block of `ranksPerNode` ranks simulates a node, named
/// "host/1". With 0, all ranks are on one node, `host`.
STEPTAPE_EXPORT GroupMap::Place simulatedPlace(const std::string& host, int rank, int ranksPerNode);

}  // namespace steptape::detail::ranks
