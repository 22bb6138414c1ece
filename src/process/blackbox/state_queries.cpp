// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/state_queries.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace steptape::detail::process {
namespace {

using CollectivePhase = RankState::CollectivePhase;

bool isInFlight(const RankState::Collective& collective) {
  return collective.phase != CollectivePhase::kCompleted &&
         collective.phase != CollectivePhase::kFailed;
}

}  // namespace

const RankState::Collective* collectiveInFlight(const RankState& state) {
  const RankState::Collective* found = nullptr;
  for (const RankState::Collective& collective : state.collectives) {
    if (!isInFlight(collective)) {
      continue;
    }
    const bool waits = collective.phase == CollectivePhase::kWaiting;
    if (found == nullptr || (waits && found->phase != CollectivePhase::kWaiting)) {
      found = &collective;
    }
  }
  return found;
}

const RankState::Thread* mainThread(const RankState& state) {
  const RankState::Collective* const collective = collectiveInFlight(state);
  const RankState::Thread* found = nullptr;
  const auto weight = [&](const RankState::Thread& thread) {
    return std::make_tuple(collective != nullptr && collective->thread == thread.tid,
                           thread.tid == state.process.pid, thread.zones.back().start);
  };
  for (const RankState::Thread& thread : state.threads) {
    if (!thread.zones.empty() && (found == nullptr || weight(thread) > weight(*found))) {
      found = &thread;
    }
  }
  return found;
}

const RankState::Group* groupOf(const RankState& state, std::uint64_t id) {
  for (const RankState::Group& group : state.groups) {
    if (group.id == id) {
      return &group;
    }
  }
  return nullptr;
}

std::string placeText(const RankState& state) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (state.hasStep) {
    add("step " + std::to_string(state.step));
  }
  if (state.phase != RunPhase::kUnknown) {
    add(std::string("phase ") + runPhaseName(state.phase));
  }
  if (const RankState::Thread* const thread = mainThread(state)) {
    add("zone '" + thread->zones.back().name + "'");
    if (!thread->operatorName.empty()) {
      add("operator '" + thread->operatorName + "'");
    }
  }
  if (const RankState::Collective* const collective = collectiveInFlight(state)) {
    add("in " + collective->name + " #" + std::to_string(collective->sequence));
    const RankState::Group* const group = groupOf(state, collective->group);
    text += group == nullptr || group->name.empty() ? "" : " of " + group->name;
  }
  return text;
}

double medianStepTime(const RankState& state) {
  std::vector<double> times;
  for (std::size_t i = 1; i < state.stepTimes.size(); ++i) {
    times.push_back(state.stepTimes[i] - state.stepTimes[i - 1]);
  }
  if (times.empty()) {
    return 0;
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return std::max(0.0, *middle);
}

}  // namespace steptape::detail::process
