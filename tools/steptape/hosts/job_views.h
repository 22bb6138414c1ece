// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "log/writer/recovery.h"
#include "tools/steptape/hosts/host_answer.h"
#include "tools/steptape/hosts/host_query.h"
#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/verdict.h"

namespace steptape::tools {

/// How to reach the machines of a job.
struct HostsToAsk {
  std::vector<std::string> names;
  std::vector<std::string> shell;  ///< The name of a host and a command follow its words.
};

/// Which jobs are looked at, as users name them.
struct JobSelection {
  std::vector<std::string> paths;  ///< As ViewSelection::paths; none and no `job`: all here.
  std::string job;                 ///< The number of a job of the scheduler; may be empty.
  std::string hosts;               ///< A list or a file of them; may be empty.
  std::string remoteShell;         ///< Of the option --rsh; may be empty.
};

/// States of all machines of a job.
struct JobViews {
  std::vector<RankView> views;
  std::vector<Surroundings> machines;
  std::vector<std::string> problems;  ///< A line for each file or machine that does not tell.
};

/// A selection for which it is known where to ask.
class JobSource {
 public:
  /// Finds the hosts: those that are named, else those of Slurm's job, else, if a directory is
  /// given inside an allocation, those of the allocation.
  /// @throws Error(kInvalidArgument) for hosts that are none.
  explicit JobSource(const JobSelection& selection);

  /// Reads the states on this machine, and asks the others, several at once, for at most 20 s each.
  /// @throws Error(kIoError) as readViews().
  JobViews read() const;

  /// Recovers the runs of the dead processes on the other machines, and, of a job that is selected
  /// by its number, on this one.
  steptape::detail::log::RecoveryReport recover(bool discardsMissing,
                                                std::vector<std::string>* problems) const;

  /// Returns whether another machine is asked.
  bool asksOthers() const;
  /// Returns whether the number of a job selects the processes.
  bool isOfScheduler() const { return !query_.jobs.empty(); }

 private:
  /// Machines that one shell reaches.
  std::vector<HostsToAsk> groups_;
  HostQuery query_;
  std::vector<std::string> paths_;
  std::vector<std::string> problems_;  // known from the start

  static std::vector<std::string> othersOf(const HostsToAsk& group);
  /// Asks all machines but this one.
  /// @return the answers of those that have answered.
  std::vector<HostAnswer> ask(const HostQuery& query, std::vector<std::string>* problems) const;
};

/// Returns the words that reach a host: those of the option, else of $STEPTAPE_RSH, else ssh.
std::vector<std::string> remoteShellOf(const std::string& option);

}  // namespace steptape::tools
