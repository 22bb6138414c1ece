// SPDX-License-Identifier: Apache-2.0
#include "distributed/open_on_all_ranks.h"

#include <optional>

#include "steptape/base/error.h"
#include "steptape/distributed/rank_log.h"

namespace steptape::detail {
namespace {

/// One byte for the code, then the message; empty for success.
std::string encodeFailure(const Error& error, const Communicator& communicator) {
  return static_cast<char>(error.code()) +
         rankAndNode(communicator.rank(), communicator.nodeName()) + ": " + error.what();
}

void throwFirstFailure(const std::vector<std::string>& failureByRank) {
  for (const std::string& failure : failureByRank) {
    if (!failure.empty()) {
      throw Error(static_cast<ErrorCode>(failure.front()), failure.substr(1));
    }
  }
}

}  // namespace

SummaryWriter openOnAllRanks(Communicator& communicator,
                             const std::function<SummaryWriter()>& open) {
  std::optional<SummaryWriter> writer;
  std::string failure;
  try {
    writer.emplace(open());
  } catch (const Error& error) {
    failure = encodeFailure(error, communicator);
  }
  throwFirstFailure(communicator.allgather(failure));
  return std::move(*writer);
}

std::string valueOfRoot(Communicator& communicator, const std::string& value) {
  return communicator.allgather(value).front();
}

}  // namespace steptape::detail
