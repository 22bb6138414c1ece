// SPDX-License-Identifier: Apache-2.0
#include "metrics/watch/hang_report.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>

#include "base/process_stat.h"
#include "base/text.h"
#include "process/blackbox/state_queries.h"

namespace steptape::detail::metrics {
namespace {

// The background thread of the writers passes several times a second.
constexpr double kOldHeartbeat = 5;

std::string nameOf(const process::RankState& state) {
  const std::string process = "process " + std::to_string(state.process.pid);
  return state.rank < 0 ? process : "rank " + std::to_string(state.rank) + " (" + process + ")";
}

std::string lineOf(const process::RankState& state, double now) {
  const std::string place = process::placeText(state);
  std::string text = nameOf(state) + ": " + (state.hasStep ? "" : "no step yet");
  text += (state.hasStep || place.empty() ? "" : ", ") + place;
  double since = state.stepTime;
  if (const process::RankState::Collective* const collective = process::collectiveInFlight(state)) {
    since = collective->start;
  } else if (const process::RankState::Thread* const thread = process::mainThread(state)) {
    since = thread->zones.back().start;
  }
  text += since > 0 && since <= now ? ", for " + secondsText(now - since) : "";
  const auto stat = base::readProcessStat(std::to_string(state.process.pid));
  if (stat && stat->start == state.process.processStart && stat->isStopped()) {
    text += "; the process is stopped";
  } else if (state.heartbeat > 0 && now - state.heartbeat > kOldHeartbeat) {
    text += "; its background thread has not run for " + secondsText(now - state.heartbeat) +
            ": the process may have ended";
  }
  return text;
}

}  // namespace

std::string secondsText(double seconds) {
  char text[32];
  if (seconds < 100) {
    std::snprintf(text, sizeof(text), "%.2g s", seconds);
  } else if (seconds < 7200) {
    std::snprintf(text, sizeof(text), "%.0f s", seconds);
  } else {
    std::snprintf(text, sizeof(text), "%.1f h", seconds / 3600);
  }
  return text;
}

std::string hangReport(std::vector<process::RankState> states, double now) {
  std::sort(states.begin(), states.end(),
            [](const process::RankState& a, const process::RankState& b) {
              return std::make_pair(a.rank, a.process.pid) < std::make_pair(b.rank, b.process.pid);
            });
  std::string text;
  std::map<std::uint64_t, std::uint64_t> awaited;  // by group: the highest number in flight
  for (const process::RankState& state : states) {
    text += "  " + lineOf(state, now) + '\n';
    if (const process::RankState::Collective* const collective =
            process::collectiveInFlight(state)) {
      std::uint64_t& highest = awaited[collective->group];
      highest = std::max(highest, collective->sequence);
    }
  }
  for (const process::RankState& state : states) {
    for (const auto& [id, sequence] : awaited) {
      const process::RankState::Group* const group = process::groupOf(state, id);
      if (group != nullptr && group->started < sequence) {
        text += "  behind: " + nameOf(state) + " has started " +
                base::counted(group->started, "collective") + " of " + group->name +
                "; others wait in #" + std::to_string(sequence) + '\n';
      }
    }
  }
  const int size = states.empty() ? -1 : states.front().worldSize;
  if (size > static_cast<int>(states.size())) {
    text += "  of the other " +
            base::counted(static_cast<std::uint64_t>(size) - states.size(), "rank") +
            " no state is on this machine\n";
  }
  return text;
}

}  // namespace steptape::detail::metrics
