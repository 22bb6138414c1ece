// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "process/blackbox/state_queries.h"
#include "tools/steptape/states/dead_ranks.h"
#include "tools/steptape/states/rank_view.h"

namespace steptape::tools {

/// A collective that some ranks have started and others have not. Times are by the clock of the
/// first host.
struct BlockedCollective {
  std::string name;
  std::uint64_t group = 0;
  std::string groupName;
  std::uint64_t sequence = 0;
  double since = 0;                      ///< When the first rank began to wait.
  std::vector<const RankView*> waiting;  ///< In it now, or until their end.
  std::vector<const RankView*> behind;   ///< Have not started it, lowest `started` first.
  std::vector<int> behindWithoutState;   ///< Ranks of the job, if the group is the whole job.
};

/// Ranks at the same place.
struct RankPlace {
  std::string phase;
  std::string collective;  ///< Name of the collective in flight; may be empty.
  std::uint64_t sequence = 0;
  std::string zone;  ///< The innermost one.
  double since = 0;  ///< The earliest, by the clock of the first host.
  std::vector<const RankView*> ranks;
};

/// A scalar that stopped being finite.
struct LostValue {
  std::string tag;
  std::vector<const RankView*> ranks;
  steptape::detail::process::RankState::LastValue value;  ///< Of the rank where it began first.
};

/// What happened to a job. Pointers point into the job, which must outlive it.
struct Verdict {
  std::vector<DeadRank> dead;  ///< Who died first is first.
  /// How many of `dead`, from the first on, may have been the first: 1, or several ranks without a
  /// trace that a launcher ended at once.
  std::size_t firstDead = 1;
  /// Ranks that others found dead or silent, without a state here: on another machine, perhaps.
  std::vector<int> accused;
  std::vector<const RankView*> stopped;
  std::vector<BlockedCollective> blocked;  ///< What has waited longest is first.
  std::vector<RankPlace> places;           ///< Of ranks that are not dead; the smallest first.
  std::vector<LostValue> lost;             ///< In the order of the first step that was not finite.
  std::string scheduler;  ///< What it says about the end of the job; set by who asks it.
};

/// @param machines At most one for each host.
Verdict judge(const Job& job, const std::vector<Surroundings>& machines);

/// Returns "0-3, 8" for sorted numbers.
std::string rangesOf(const std::vector<int>& numbers);

/// Returns "rank 3", "ranks 0-2, 5", "process 4711" or "process 4711, process 4712".
std::string namesOf(const std::vector<const RankView*>& ranks);

}  // namespace steptape::tools
