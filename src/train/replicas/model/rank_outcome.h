// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "steptape/base/error.h"
#include "steptape/ranks/communicator.h"

#include <c10/util/Exception.h>

namespace steptape::detail::train {

/// Runs `function`, and returns the message of its exception, without LibTorch's stack trace; empty
/// if it does not throw.
template <typename Function>
std::string failureOf(Function&& function) {
  try {
    function();
    return {};
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Makes one rank's failure fail all ranks, so that no rank continues alone. Collective.
///
/// @param failure The error on this rank; empty if there is none.
/// @throws Error(code), the same on every rank, with the failure of the lowest rank that has one.
inline void throwIfAnyRankFailed(const std::string& failure, Communicator& world, ErrorCode code,
                                 std::string_view who) {
  const std::vector<std::string> failures = world.allgather(failure);
  for (std::size_t rank = 0; rank < failures.size(); ++rank) {
    if (!failures[rank].empty()) {
      throw Error(code,
                  std::string(who) + ": rank " + std::to_string(rank) + ": " + failures[rank]);
    }
  }
}

}  // namespace steptape::detail::train
