// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/run_states.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <sys/stat.h>
#include <utility>

#include "steptape/base/clock.h"

#include "base/text.h"
#include "log/writer/box_directories.h"
#include "process/blackbox/directory_lock.h"
#include "tools/steptape/states/rank_view.h"

namespace steptape::tools {
namespace {

using steptape::detail::process::BoxName;
using steptape::detail::process::DirectoryLock;
using steptape::detail::process::listBoxes;

/// A program that shares its run with others has no file there that shows it. It writes the run, or
/// did until it died, if the last event is not older than this.
constexpr double kRecentSeconds = 60;

RunState stateOf(Health health) {
  switch (health) {
    case Health::kDead:
      return RunState::kKilled;
    case Health::kStopped:
    case Health::kStuck:
      return RunState::kHanging;
    default:
      return RunState::kRunning;
  }
}

/// Returns the states that were left in the run's directory.
std::vector<RankView> statesIn(const std::string& directory) {
  const std::string folder = directory + "/" + steptape::detail::process::kStateFolder;
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    return {};
  }
  ViewSelection selection;
  selection.paths = {folder};
  std::vector<std::string> problems;
  return readViews(selection, &problems);
}

/// Returns whether a process that was last seen at `seen` wrote the session to its end.
bool diedIn(const RunSession& session, double seen) {
  return seen >= session.begin && seen - session.end < kRecentSeconds;
}

}  // namespace

const char* runStateName(RunState state) {
  constexpr std::array<const char*, 6> kNames{"",       "running", "hanging",
                                              "killed", "failed",  "ended"};
  return kNames.at(static_cast<std::size_t>(state));
}

RunStates::RunStates() {
  // A file that cannot be read is of another version or damaged; `steptape top` reports it.
  std::vector<std::string> problems;
  std::map<std::uint64_t, TopRow> rows;  // by box
  for (TopRow& row :
       topRows(jobsOf(readViews(ViewSelection(), &problems)), Clock::system().wallSeconds())) {
    const std::uint64_t box = row.rank.state.process.box;
    rows.emplace(box, std::move(row));
  }
  for (const BoxName& box : listBoxes(steptape::detail::process::boxFolder())) {
    const auto row = rows.find(box.number);
    if (row == rows.end()) {
      continue;
    }
    for (std::string& directory : steptape::detail::log::directoriesOf(box)) {
      places_.push_back({std::move(directory), row->second.rank.state.process.created,
                         row->second.rank.seen, row->second.health});
    }
  }
}

/// Finds the process that wrote the last session of a run: of those with the run open, the newest.
const RunStates::Place* RunStates::placeOf(const std::string& directory) const {
  const Place* found = nullptr;
  if (places_.empty()) {
    return found;
  }
  const std::string absolute = absolutePath(directory);  // a system call for each of its parts
  for (const Place& place : places_) {
    if (place.directory == absolute && (found == nullptr || place.created > found->created)) {
      found = &place;
    }
  }
  return found;
}

RunState RunStates::of(const RunReader& run, RunEnd end) const {
  const std::vector<RunSession> sessions = run.sessions();
  const RunSession last = sessions.empty() ? RunSession{0, 0} : sessions.back();
  const std::string& directory = run.directory();
  const Place* const place = placeOf(directory);
  const bool isAlive = place != nullptr && place->health != Health::kDead;
  const auto sign = DirectoryLock::look(directory);
  if (isAlive && (sign || Clock::system().wallSeconds() - last.end < kRecentSeconds)) {
    return stateOf(place->health);
  }
  const std::vector<RankView> left = statesIn(directory);
  if (sign) {
    // The file of a process that was killed looks fresh for a while.
    const bool isDead =
        place != nullptr || std::any_of(left.begin(), left.end(), [&](const RankView& view) {
          return detail::base::startsWith(
              sign->owner, fmt::format("process {} on {}", view.state.process.pid, hostOf(view)));
        });
    return !isDead && sign->isFresh({}) ? RunState::kRunning : RunState::kKilled;
  }
  if (end == RunEnd::kFailed) {
    return RunState::kFailed;
  }
  if (end == RunEnd::kSucceeded) {
    return RunState::kEnded;
  }
  if (isAlive) {
    return RunState::kUnknown;  // It has closed the run, or shares it and writes rarely.
  }
  const bool isKilled = (place != nullptr && diedIn(last, place->seen)) ||
                        std::any_of(left.begin(), left.end(),
                                    [&](const RankView& view) { return diedIn(last, view.seen); });
  if (isKilled) {
    return RunState::kKilled;
  }
  return end == RunEnd::kNotSaid ? RunState::kEnded : RunState::kUnknown;
}

}  // namespace steptape::tools
