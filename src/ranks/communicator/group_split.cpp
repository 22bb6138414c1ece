// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/group_split.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace steptape::detail::ranks {

std::vector<int> ranksOfColor(Communicator& communicator, int color, int key) {
  using Wish = std::array<int, 2>;  // color, key
  const Wish mine{color, key};
  CollectiveOptions options;
  options.name = "split";
  std::vector<Wish> wishes;
  for (const std::string& bytes : communicator.allgather(
           std::string_view(reinterpret_cast<const char*>(mine.data()), sizeof mine), options)) {
    wishes.emplace_back();
    std::memcpy(wishes.back().data(), bytes.data(), sizeof mine);
  }
  std::vector<int> ranks;
  for (int rank = 0; color >= 0 && rank < communicator.size(); ++rank) {
    if (wishes[static_cast<std::size_t>(rank)][0] == color) {
      ranks.push_back(rank);
    }
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return wishes[static_cast<std::size_t>(a)][1] < wishes[static_cast<std::size_t>(b)][1];
  });
  return ranks;
}

}  // namespace steptape::detail::ranks
