// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "ranks/c10d/key_store.h"
#include "ranks/communicator/group_map.h"
#include "ranks/communicator/launch.h"

namespace steptape::c10d::detail {

/// What the ranks know of each other once they have met.
struct Meeting {
  std::shared_ptr<KeyStore> store;  ///< Keys of this start of the job only.
  std::string prefix;               ///< Their name in the store.
  steptape::detail::ranks::GroupMap map;
};

/// Waits until all ranks of the job have come to the store, and exchanges where they run.
///
/// The store of a launcher outlives the ranks that it restarts, and ranks of other jobs may come to
/// it by mistake. Each rank therefore asks rank 0 by a number of its own, and says of which job it
/// is; rank 0 answers with a prefix that no start has used, or with the reason why not. Whoever
/// claims a rank that is taken is refused.
///
/// While it waits, each rank says so on stderr, every minute, or once if `timeout` is shorter than
/// two.
///
/// @param address      Of the store, for messages.
/// @param ranksPerNode Treats each block of this many ranks as a node; 0: ranks that share memory
///                     are on one node.
/// @throws Error(kDeadlineExceeded) with the ranks that do not come within `timeout`;
///         Error(kRankMismatch) on all ranks that have come if a rank has another number of ranks
///         or another version of Steptape; Error(kFailedPrecondition) if rank 0 is of another job,
///         or if another process is this rank.
/// @cost A few messages to the store for each rank, and some for each look, which are rarer the
///       more ranks there are; rank 0 holds a few hundred bytes for each.
Meeting meet(const std::shared_ptr<KeyStore>& store, const std::string& address,
             const steptape::detail::ranks::Launch& launch, int ranksPerNode,
             std::chrono::milliseconds timeout);

}  // namespace steptape::c10d::detail
