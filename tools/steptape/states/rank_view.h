// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"

#include "process/blackbox/rank_state.h"

namespace steptape::tools {

/// What is known about the process of a state.
enum class Life : std::uint8_t {
  kUnknown,  ///< The state is a copy, made on another machine or in another container.
  kRuns,
  kStopped,  ///< By a signal or a debugger.
  kDead,
};

/// A state and where it comes from.
struct RankView {
  steptape::detail::process::RankState state;
  Life life = Life::kUnknown;
  std::string path;       ///< Of the file.
  bool isCopy = false;    ///< Not the file that the process stores into.
  double seen = 0;        ///< Seconds since 1970: until when the state tells what happened.
  double clockAhead = 0;  ///< Seconds by which the clock of its host is ahead of the one here.
  /// Seconds to add to its times, so that those of all hosts of the job compare; see
  /// clock_offsets.h.
  double clockOffset = 0;

  /// Returns a time of the state by the clock of the job's first host; 0, which is never, stays 0.
  double jobTime(double time) const { return time > 0 ? time + clockOffset : time; }
};

/// The processes of one job, in the order of their ranks, then of their process numbers.
struct Job {
  std::string id;  ///< Of the scheduler; may be empty.
  int worldSize = -1;
  std::vector<RankView> ranks;
  std::vector<int> missing;       ///< Ranks of `worldSize` without a state.
  std::uint64_t olderStates = 0;  ///< Of the same ranks, of processes before these. Left out.
  double lastSign() const;        ///< The last sign of life of any rank.
};

/// Returns "rank 3", or "process 4711" if it has no rank.
std::string nameOf(const RankView& rank);

/// Returns the path of a directory that may not exist, without links and a slash at its end.
std::string absolutePath(const std::string& path);

/// Returns the name of the machine.
std::string hostOf(const RankView& rank);

/// Returns the last time at which the process is known to have run.
double lastSignOf(const steptape::detail::process::RankState& state);

/// Which states are read.
struct ViewSelection {
  /// Files of states, directories with copies of them (in their files `*.state`), and log
  /// directories, which select the processes on this machine that log at or below them.
  std::vector<std::string> paths;
  /// Log directories alone, absolute paths, of which this machine need not have any.
  std::vector<std::string> directories;
  std::vector<std::string> jobs;     ///< Processes on this machine of these jobs of the scheduler,
  std::set<std::uint64_t> launches;  ///< and of these starts; see RankState::launch.

  bool isAll() const {
    return paths.empty() && directories.empty() && jobs.empty() && launches.empty();
  }
};

/// Returns the selected states, and those of the other ranks on this machine that were started
/// together with one of them. All of this user's processes on this machine if nothing is selected.
///
/// Nothing is changed, and no process is disturbed.
///
/// @param problems Receives a line for each file that could not be read.
/// @throws Error(kIoError) if a path does not exist and no process logs there.
std::vector<RankView> readViews(const ViewSelection& selection, std::vector<std::string>* problems);

/// Keeps one state of each process: not a copy if there is the state itself, else the newest copy.
void dropDoubles(std::vector<RankView>* views);

/// Judges bytes that another machine has sent: `life` and `seen` are as it has found them.
Status viewOfBytes(std::string_view bytes, Life life, double seen, std::string path,
                   RankView* view);

/// Groups states into jobs: by what the ranks of a job have in common, by the scheduler's job, or
/// by the number of ranks and the log directory. A rank that has several states counts with the
/// newest one. The newest job is first.
std::vector<Job> jobsOf(std::vector<RankView> views);

}  // namespace steptape::tools
