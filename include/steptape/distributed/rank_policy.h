// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape {

/// Whose calls a DistributedWriter writes, and where. Metrics given to addReduced() are averaged
/// under every policy and written once, into the job's own run.
enum class RankPolicy {
  /// The root's calls are written, those of other ranks are no-ops: one event file for the job.
  kRootOnly,
  /// Every rank's calls are written, each rank's into its own sub-run, rankRunName(): one event
  /// file per rank. For finding the rank that differs.
  kPerRank,
  /// As kRootOnly, but addScalar() means addReduced(): no rank's value is taken for the job's.
  kReduced,
};

/// The sub-run of a rank under RankPolicy::kPerRank, such as "rank_00003": its names sort by rank.
STEPTAPE_EXPORT std::string rankRunName(int rank);

}  // namespace steptape
