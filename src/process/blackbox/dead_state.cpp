// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/dead_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <sys/stat.h>
#include <utility>

#include "steptape/base/clock.h"

#include "process/blackbox/rank_state.h"

namespace steptape::detail::process {

bool copyDeadState(const DeadBox& box, const std::string& directory) {
  const std::string path = directory + "/" + kStateFolder + "/" +
                           BoxHeader::textOf(box.header().host) + "-" +
                           std::to_string(box.header().pid) + ".state";
  return copyRankState(box.name(), path).ok();
}

bool moveDeadState(const BoxName& name, const std::string& directory) {
  const std::vector<std::string> known = readStateHead(name).logDirectories;
  if (std::find(known.begin(), known.end(), directory) == known.end()) {
    return false;
  }
  DeadBox box;
  if (box.claim(name) != DeadBox::State::kDead || !copyDeadState(box, directory)) {
    return false;
  }
  box.remove({kStatePart});
  return true;
}

void removeOldState(DeadBox* box) {
  constexpr double kDays = 7;
  if (Clock::system().wallSeconds() - box->header().created > kDays * 86400.0) {
    box->remove({kStatePart});
  }
}

void removeOldestStates(const std::vector<BoxName>& boxes) {
  constexpr std::size_t kMostStates = 512;
  if (boxes.size() <= kMostStates) {
    return;
  }
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, const BoxName*>> byAge;
  for (const BoxName& name : boxes) {
    struct stat status {};
    if (::stat(name.pathOf("id").c_str(), &status) == 0) {
      byAge.push_back({{status.st_mtim.tv_sec, status.st_mtim.tv_nsec}, &name});
    }
  }
  std::sort(byAge.begin(), byAge.end(), std::greater<>());
  std::size_t dead = 0;
  for (const auto& [created, name] : byAge) {
    DeadBox box;
    if (box.claim(*name) == DeadBox::State::kDead && ++dead > kMostStates) {
      box.remove({kStatePart});
    }
  }
}

}  // namespace steptape::detail::process
