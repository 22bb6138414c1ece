// SPDX-License-Identifier: Apache-2.0
#include "comm/agreed_node_memory.h"

#include <map>
#include <utility>
#include <vector>

#include "steptape/base/error.h"

#include "base/got_expected.h"

namespace steptape::detail {
namespace {

std::vector<std::string> allgather(Communicator& communicator, const std::string& text) {
  CollectiveOptions options;
  options.name = "allocateNodeMemory";
  return communicator.allgather(text, options);
}

}  // namespace

void checkSameBytes(Communicator& communicator, const GroupMap& group, std::size_t bytes) {
  const std::vector<std::string> bytesByRank = allgather(communicator, std::to_string(bytes));
  std::map<int, int> firstRankOfNode;
  for (int rank = 0; rank < group.size(); ++rank) {
    const int first = firstRankOfNode.emplace(group.place(rank).nodeId, rank).first->second;
    const std::string& wanted = bytesByRank[static_cast<std::size_t>(first)];
    const std::string& got = bytesByRank[static_cast<std::size_t>(rank)];
    if (got != wanted) {
      throw Error(
          ErrorCode::kRankMismatch,
          "allocateNodeMemory: " + group.nameOf(rank) + ": " +
              gotExpected(got + " bytes", wanted + " bytes, as on rank " + std::to_string(first)));
    }
  }
}

bool agreeOnSuccess(Communicator& communicator, const GroupMap& group, const std::string& failure,
                    std::string* why) {
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

}  // namespace steptape::detail
