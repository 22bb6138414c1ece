// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/gather_from_ranks.h"

#include <algorithm>

#include "base/got_expected.h"
#include "ranks/communicator/run_on_all_ranks.h"

namespace steptape::detail::metrics {
namespace {

// Prefix of a chosen rank's value, which may be empty.
constexpr char kChosen = '+';

void checkCall(const Communicator& communicator, const GatherCall& call) {
  const std::string function = call.function;
  if (call.tag.empty()) {
    base::reject("an empty tag", "a name such as \"loss/train\"", function);
  }
  for (const int rank : call.ranks) {
    if (rank < 0 || rank >= communicator.size()) {
      base::reject("rank " + std::to_string(rank),
                   "0 to " + std::to_string(communicator.size() - 1), function);
    }
  }
}

bool isChosen(const std::vector<int>& ranks, int rank) {
  return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

}  // namespace

std::vector<std::optional<std::string>> gatherFromRanks(
    Communicator& communicator, const GatherCall& call,
    const std::function<std::string()>& encode) {
  CollectiveOptions options;
  options.name = std::string(call.function) + " '" + std::string(call.tag) + "' at step " +
                 std::to_string(call.step);
  std::string mine;
  ranks::runOnAllRanks(communicator, options.name, [&] {
    checkCall(communicator, call);
    if (isChosen(call.ranks, communicator.rank())) {
      mine = kChosen + encode();
    }
  });
  options.compareRanks = false;  // they were just compared under this name
  std::vector<std::optional<std::string>> byRank;
  for (const std::string& bytes : communicator.gatherObject(mine, 0, options)) {
    byRank.emplace_back();
    if (!bytes.empty()) {
      byRank.back() = bytes.substr(1);
    }
  }
  return byRank;
}

}  // namespace steptape::detail::metrics
