// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/run_on_all_ranks.h"

#include <cstdint>
#include <exception>

#include "steptape/ranks/communicator.h"

namespace steptape::detail::ranks {

void runOnAllRanks(Communicator& communicator, const std::string& what,
                   const std::function<void()>& action) {
  ErrorCode code = ErrorCode::kFailedPrecondition;
  std::string failure;
  const auto fail = [&](const char* message) {
    failure = rankAndNode(communicator.rank(), communicator.nodeName()) + ": " + message;
  };
  try {
    action();
  } catch (const Error& error) {
    code = error.code();
    fail(error.what());
  } catch (const std::exception& error) {
    fail(error.what());
  }
  throwIfAnyRankFailed(communicator, what, code, failure);
}

void throwIfAnyRankFailed(Communicator& communicator, const std::string& what, ErrorCode code,
                          const std::string& failure) {
  CollectiveOptions options;
  options.name = what;
  // Texts travel only if there are any: each rank would hold those of all.
  std::int32_t hasFailed = failure.empty() ? 0 : 1;
  communicator.allreduce(ArrayView<std::int32_t>(&hasFailed, 1), ReduceOp::kMax, options);
  if (hasFailed == 0) {
    return;
  }
  // One byte for the code, then the text.
  const std::string own = failure.empty() ? "" : static_cast<char>(code) + failure;
  for (const std::string& ofRank : communicator.allgather(own, options)) {
    if (!ofRank.empty()) {
      throw Error(static_cast<ErrorCode>(ofRank.front()), ofRank.substr(1));
    }
  }
}

}  // namespace steptape::detail::ranks
