// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tools/steptape/exit_code.h"
#include "tools/steptape/hosts/host_list.h"
#include "tools/steptape/hosts/job_views.h"
#include "tools/steptape/jobs/after_death.h"
#include "tools/steptape/jobs/job_end.h"
#include "tools/steptape/jobs/job_signals.h"
#include "tools/steptape/jobs/launcher.h"
#include "tools/steptape/jobs/restart_policy.h"
#include "tools/steptape/jobs/run_progress.h"
#include "tools/steptape/programs/event_option.h"

namespace steptape::tools {

/// A job, and what to do when it dies.
struct JobPlan {
  Launcher launcher;
  int ranks = 1;
  int minRanks = 1;                      ///< The job may continue with this many.
  std::vector<Host> hosts;               ///< Empty: the launcher decides.
  std::vector<std::string> remoteShell;  ///< Asks hosts whether they answer, before each start.
  std::vector<std::string> program;      ///< With its arguments.
  std::string run;                       ///< The directory of its run; empty: not known.
  RestartLimits limits;
  std::set<int> noRestartCodes;  ///< Exit codes after which another start does not help.
  std::string onEvent;           ///< The user's command; may be empty.
};

/// Starts a job, passes signals on to it, and starts it again when it dies.
///
/// The job has the standard streams of this process. When a start of it ends, in whatever way, all
/// of its processes on this machine have ended.
class JobSupervisor {
 public:
  explicit JobSupervisor(JobPlan plan);
  JobSupervisor(const JobSupervisor&) = delete;
  JobSupervisor& operator=(const JobSupervisor&) = delete;
  /// Waits for the user's command.
  ~JobSupervisor();

  /// Runs the job to its end.
  /// @return the exit code of its last start; kExitStopped if it ended well after a signal that
  ///         asked it to end.
  int run();

 private:
  using Clock = JobSignals::Clock;

  /// Where the next start runs.
  struct Place {
    int ranks = 0;
    std::vector<Host> hosts;
  };

  Place findPlace() const;
  /// Returns the machines where the ranks may have left something.
  JobSelection remainsPlace() const;
  FailedStart startAndWait(const Place& place);
  /// Corrects the end by what is known besides the launcher's exit code.
  void correctEnd(double seconds);
  JobEnd waitFor(pid_t launcher, bool ownGroup);
  /// Takes the statuses of all children that have ended.
  /// @return that of the launcher, if it is one of them.
  std::optional<int> reap(pid_t launcher);
  void take(const ArrivedSignal& signal, pid_t launcher, bool ownGroup);
  void endLeftovers(std::chrono::milliseconds grace);
  void report(const FailedStart& start, const RestartDecision& decision) const;
  /// Tells the user's command.
  ///
  /// @param members Further members of the document: `, "exit_code": 1`.
  void tell(const char* event, const std::string& message, const std::string& members = {}) const;
  std::string exitCodeMember() const;
  /// @return the signal that ended the pause early; 0 if none.
  int pauseFor(double seconds);

  JobPlan plan_;
  RestartPolicy policy_;
  std::optional<RunProgress> progress_;
  JobSignals signals_;  // before the thread of events_, which must not take one of them
  std::unique_ptr<steptape::detail::process::EventCommand> events_;  // null: none
  int starts_ = 0;
  JobEnd end_{kExitProblem, false};             // of the last start
  std::optional<Aftermath> aftermath_;          // of the last start that died by itself
  int endSignal_ = 0;                           // the first that asked this job to end
  std::optional<Clock::time_point> interrupt_;  // the last SIGINT
};

}  // namespace steptape::tools
