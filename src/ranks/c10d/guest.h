// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "process/blackbox/job_identity.h"
#include "ranks/communicator/group_map.h"
#include "ranks/communicator/launch.h"

// What ranks tell each other at the start of a job.

namespace steptape::c10d::detail {

/// A rank that comes to the store, as it describes itself.
struct Guest {
  int rank = 0;
  std::string protocol;
  std::string size;    ///< The number of ranks that it expects.
  std::string memory;  ///< Equal exactly for processes that share the memory of /dev/shm.
  std::string host;
  steptape::detail::process::JobIdentity job;

  static Guest ofThisRank(const steptape::detail::ranks::Launch& launch);
  std::string encode() const;
  static Guest decode(const std::string& lines);
};

/// A rank with another version of Steptape, or another number of ranks, than rank 0.
struct Mismatch {
  int rank = 0;
  std::string host;
  std::string got;
  std::string expected;

  static std::optional<Mismatch> find(const Guest& guest, const Guest& rankZero);
  std::string encode() const;
  static Mismatch decode(const std::string& lines);
  /// @throws Error(kRankMismatch)
  [[noreturn]] void raise() const;
};

/// Returns where the ranks are, by rank.
///
/// @param ranksPerNode Treats each block of this many ranks as a node; 0: ranks that share memory
///                     are on one node.
std::vector<steptape::detail::ranks::GroupMap::Place> placesOf(const std::vector<Guest>& byRank,
                                                               int ranksPerNode);
/// Returns them as a text that names each node once.
std::string encodePlaces(const std::vector<steptape::detail::ranks::GroupMap::Place>& byRank);
std::vector<steptape::detail::ranks::GroupMap::Place> decodePlaces(const std::string& text);

/// Returns a text that no other call returns, in any process.
std::string randomText();

}  // namespace steptape::c10d::detail
