// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

#include "base/torch_error_text.h"
#include "ranks/communicator/run_on_all_ranks.h"

namespace steptape::detail::train {

/// Runs `function`, and returns the message of its exception, without LibTorch's stack trace; empty
/// if it does not throw.
template <typename Function>
std::string failureOf(Function&& function) {
  try {
    function();
    return {};
  } catch (const std::exception& error) {
    return base::torchErrorText(error.what());
  }
}

/// Makes one rank's failure fail all ranks, so that no rank continues alone. Collective.
///
/// @param failure The error on this rank; empty if there is none.
/// @throws Error(code), the same on every rank, with the failure of the lowest rank that has one.
inline void throwIfAnyRankFailed(const std::string& failure, Communicator& world, ErrorCode code,
                                 std::string_view who) {
  std::string text;
  if (!failure.empty()) {
    text = std::string(who) + ": rank " + std::to_string(world.rank()) + ": " + failure;
  }
  ranks::throwIfAnyRankFailed(world, {}, code, text);
}

}  // namespace steptape::detail::train
