// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/roll_call.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "steptape/base/status.h"

namespace steptape::c10d::detail {

std::vector<int> RollCall::silentOf(const std::vector<int>& others) {
  keys_->set("roll", "");
  answer();
  const std::vector<int> silent = ranksWithout("roll/", others);
  // The store may end with this rank: those who answered may still be counting.
  keys_->set("roll done/" + rank_, "");
  std::vector<int> present;
  std::set_difference(others.begin(), others.end(), silent.begin(), silent.end(),
                      std::back_inserter(present));
  ranksWithout("roll done/", present);
  return silent;
}

/// Waits until the keys of all `ranks` are in the store, but not for long.
/// @return the ranks whose keys are missing.
std::vector<int> RollCall::ranksWithout(const std::string& prefix, std::vector<int> ranks) {
  constexpr std::chrono::milliseconds kTime{500};  // several times the time between looks
  constexpr std::chrono::milliseconds kPause{10};
  const auto end = std::chrono::steady_clock::now() + kTime;
  while (!ranks.empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kPause);
    ranks.erase(std::remove_if(ranks.begin(), ranks.end(),
                               [&](int rank) {
                                 std::string value;
                                 return keys_->tryGet(prefix + std::to_string(rank), value);
                               }),
                ranks.end());
  }
  return ranks;
}

void RollCall::answerIfCalled() {
  constexpr std::chrono::milliseconds kBetweenLooks{100};
  const auto now = std::chrono::steady_clock::now();
  if (now < nextLook_ || hasAnswered_) {
    return;
  }
  nextLook_ = now + kBetweenLooks;
  try {
    std::string value;
    if (keys_->tryGet("roll", value)) {
      answer();
      hasAnswered_ = true;
    }
  } catch (const Error&) {
    // An operation reports that ranks are lost.
  }
}

}  // namespace steptape::c10d::detail
