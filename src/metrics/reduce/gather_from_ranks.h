// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/ranks/communicator.h"

namespace steptape::detail::metrics {

/// A call that gathers one value of each chosen rank; equal on all ranks.
struct GatherCall {
  const char* function;  ///< Name for errors.
  std::string_view tag;
  std::int64_t step;
  const std::vector<int>& ranks;  ///< The chosen ranks; empty: all.
};

/// Calls `encode` on the chosen ranks and gathers the results on the root. Collective.
///
/// @return results by rank, nothing for a rank that is not chosen; empty on ranks other than the
///         root.
/// @throws Error(kInvalidArgument), the same on every rank, if the tag is empty or a chosen rank
///         does not exist; an error of `encode`, as runOnAllRanks(); Error(kRankMismatch) if
///         function, tag or step differ.
std::vector<std::optional<std::string>> gatherFromRanks(Communicator& communicator,
                                                        const GatherCall& call,
                                                        const std::function<std::string()>& encode);

}  // namespace steptape::detail::metrics
