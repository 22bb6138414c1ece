// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/run_on_all_ranks.h"

#include <cstdint>
#include <exception>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/ranks/rank_log.h"

namespace steptape::detail::ranks {
namespace {

/// Returns the error that `action` throws: one byte for the code, then the message; empty for
/// success.
std::string failureOf(const std::function<void()>& action, const Communicator& communicator) {
  const auto encode = [&communicator](ErrorCode code, const char* what) {
    return static_cast<char>(code) + rankAndNode(communicator.rank(), communicator.nodeName()) +
           ": " + what;
  };
  try {
    action();
    return "";
  } catch (const Error& error) {
    return encode(error.code(), error.what());
  } catch (const std::exception& error) {
    return encode(ErrorCode::kFailedPrecondition, error.what());
  }
}

void throwFirstFailure(const std::vector<std::string>& failureByRank) {
  for (const std::string& failure : failureByRank) {
    if (!failure.empty()) {
      throw Error(static_cast<ErrorCode>(failure.front()), failure.substr(1));
    }
  }
}

}  // namespace

void runOnAllRanks(Communicator& communicator, const std::string& what,
                   const std::function<void()>& action) {
  CollectiveOptions options;
  options.name = what;
  const std::string failure = failureOf(action, communicator);
  // Texts travel only if there are any: each rank would hold those of all.
  std::int32_t hasFailed = failure.empty() ? 0 : 1;
  communicator.allreduce(ArrayView<std::int32_t>(&hasFailed, 1), ReduceOp::kMax, options);
  if (hasFailed != 0) {
    throwFirstFailure(communicator.allgather(failure, options));
  }
}

}  // namespace steptape::detail::ranks
