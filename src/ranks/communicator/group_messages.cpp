// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/group_messages.h"

#include <sstream>

namespace steptape::detail::ranks {
namespace {

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::string mismatchText(const std::vector<std::string>& descriptionByRank, const GroupMap& group) {
  int first = 0;
  int differing = 0;
  for (int rank = group.size() - 1; rank > 0; --rank) {
    if (descriptionByRank[static_cast<std::size_t>(rank)] != descriptionByRank[0]) {
      first = rank;
      ++differing;
    }
  }
  std::ostringstream text;
  text << "ranks meet in different operations: " << group.nameOf(first) << " is in "
       << descriptionByRank[static_cast<std::size_t>(first)] << "; expected "
       << descriptionByRank[0] << " as rank 0";
  if (differing > 1) {
    text << " (" << differing << " ranks differ from rank 0)";
  }
  return text.str();
}

std::string partsMismatchText(const CollectiveCall& call, std::size_t total) {
  return call.describe() + ": the ranks' parts have " + std::to_string(total) +
         " elements together";
}

std::string stallText(const std::string& what, std::chrono::steady_clock::duration waited,
                      const std::string& missing) {
  std::ostringstream text;
  text << what << " waits for " << seconds(waited) << " s for " << missing;
  return text.str();
}

std::string deadlineText(const CollectiveCall& call, std::chrono::milliseconds timeout,
                         const std::string& missing, const GroupMap& group) {
  return deadlineText(
      call.describe(), timeout,
      missing.empty() ? "all ranks came, but not their data" : missing + " did not arrive", group);
}

std::string deadlineText(const std::string& what, std::chrono::milliseconds timeout,
                         const std::string& why, const GroupMap& group) {
  std::ostringstream text;
  text << what << " did not end within " << seconds(timeout) << " s on "
       << group.nameOf(group.rank()) << " of " << group.size() << ": " << why;
  return text.str();
}

}  // namespace steptape::detail::ranks
