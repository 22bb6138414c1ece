// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "c10d/key_store.h"
#include "comm/group_map.h"
#include "comm/launch.h"

namespace steptape::c10d::detail {

/// What the ranks know of each other once they have met.
struct Meeting {
  std::shared_ptr<KeyStore> store;  ///< Keys of this start of the job only.
  std::string prefix;               ///< Their name in the store.
  steptape::detail::GroupMap map;
};

/// Waits until all ranks have come, and exchanges where they run.
///
/// The store of a launcher outlives the ranks that it restarts, so keys of an earlier start may be
/// in it, at the same names. Rank 0 therefore makes a prefix that no start has used, and answers
/// with it those who ask, each by a number of their own.
///
/// @param ranksPerNode Treats each block of this many ranks as a node; 0: ranks that share memory
///                     are on one node.
/// @throws Error(kDeadlineExceeded) with the ranks that do not come within `timeout`;
///         Error(kRankMismatch) on all ranks if a rank has another number of ranks or another
///         version of Steptape.
Meeting meet(const std::shared_ptr<KeyStore>& store, const steptape::detail::Launch& launch,
             int ranksPerNode, std::chrono::milliseconds timeout);

}  // namespace steptape::c10d::detail
