// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/clock_offsets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace steptape::tools {
namespace {

using steptape::detail::process::RankState;

/// When collectives ended on a host, by group and sequence number.
using CollectiveEnds = std::map<std::pair<std::uint64_t, std::uint64_t>, double>;

struct HostClock {
  CollectiveEnds ends;
  std::optional<double> offset;
};

void addEnds(const RankState& state, CollectiveEnds* ends) {
  for (const RankState::Collective& collective : state.collectives) {
    if (collective.phase != RankState::CollectivePhase::kCompleted || collective.isUncertain) {
      continue;
    }
    // A rank may see the end late, but not early: the earliest one of a host is closest to it.
    const auto [known, isNew] =
        ends->try_emplace({collective.group, collective.sequence}, collective.since);
    known->second = std::min(known->second, collective.since);
  }
}

/// Returns what to add to the times of `host`; nothing if no known host has a collective of it.
std::optional<double> offsetOf(const HostClock& host,
                               const std::map<std::string, HostClock>& hosts) {
  std::vector<double> differences;
  for (const auto& [name, other] : hosts) {
    for (const auto& [key, end] : host.ends) {
      const auto same = other.ends.find(key);
      if (other.offset && same != other.ends.end()) {
        differences.push_back(same->second + *other.offset - end);
      }
    }
  }
  if (differences.empty()) {
    return {};
  }
  const auto middle =
      differences.begin() + static_cast<std::ptrdiff_t>((differences.size() - 1) / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

}  // namespace

void estimateClockOffsets(std::vector<RankView>* ranks) {
  std::map<std::string, HostClock> hosts;
  for (const RankView& rank : *ranks) {
    addEnds(rank.state, &hosts[hostOf(rank)].ends);
  }
  if (hosts.size() < 2) {
    return;
  }
  hosts.at(hostOf(ranks->front())).offset = 0;
  // A host may share collectives only with one whose offset is found in an earlier round.
  for (bool isProgress = true; isProgress;) {
    isProgress = false;
    for (auto& [name, host] : hosts) {
      if (!host.offset) {
        host.offset = offsetOf(host, hosts);
        isProgress = isProgress || host.offset;
      }
    }
  }
  for (RankView& rank : *ranks) {
    rank.clockOffset = hosts.at(hostOf(rank)).offset.value_or(0);
  }
}

}  // namespace steptape::tools
