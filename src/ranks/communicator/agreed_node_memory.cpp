// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/agreed_node_memory.h"

#include <array>
#include <map>
#include <random>
#include <vector>

#include "steptape/base/status.h"

#include "base/got_expected.h"

namespace steptape::detail::ranks {
namespace {

CollectiveOptions named() {
  CollectiveOptions options;
  options.name = "allocateNodeMemory";
  return options;
}

std::vector<std::string> allgather(Communicator& communicator, const std::string& text) {
  return communicator.allgather(text, named());
}

std::uint64_t randomNumber() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

std::uint64_t agreeOnBytes(Communicator& communicator, const GroupMap& group, std::size_t bytes) {
  const std::uint64_t size = bytes;
  const std::uint64_t number = communicator.isRoot() ? randomNumber() : 0;
  std::array<std::uint64_t, 3> greatest{size, ~size, number};
  communicator.allreduce(ArrayView<std::uint64_t>(greatest), ReduceOp::kMax, named());
  if (greatest[0] == ~greatest[1]) {
    return greatest[2];
  }
  // The ranks of different nodes may ask for different sizes.
  const std::vector<std::string> bytesByRank = allgather(communicator, std::to_string(bytes));
  std::map<int, int> firstRankOfNode;
  for (int rank = 0; rank < group.size(); ++rank) {
    const int first = firstRankOfNode.emplace(group.place(rank).nodeId, rank).first->second;
    const std::string& wanted = bytesByRank[static_cast<std::size_t>(first)];
    const std::string& got = bytesByRank[static_cast<std::size_t>(rank)];
    if (got != wanted) {
      throw Error(ErrorCode::kRankMismatch,
                  "allocateNodeMemory: " + group.nameOf(rank) + ": " +
                      base::gotExpected(got + " bytes",
                                        wanted + " bytes, as on rank " + std::to_string(first)));
    }
  }
  return greatest[2];
}

bool agreeOnSuccess(Communicator& communicator, const GroupMap& group, const std::string& failure,
                    std::string* why) {
  std::int32_t hasFailed = failure.empty() ? 0 : 1;
  communicator.allreduce(ArrayView<std::int32_t>(&hasFailed, 1), ReduceOp::kMax, named());
  if (hasFailed == 0) {
    return true;
  }
  const std::vector<std::string> failureByRank = allgather(communicator, failure);
  for (int rank = 0; rank < group.size(); ++rank) {
    const std::string& ofRank = failureByRank[static_cast<std::size_t>(rank)];
    if (!ofRank.empty()) {
      if (why != nullptr) {
        *why = "allocateNodeMemory: " + group.nameOf(rank) + ": " + ofRank;
      }
      return false;
    }
  }
  return true;
}

}  // namespace steptape::detail::ranks
