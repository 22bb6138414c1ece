// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/job_end.h"

#include <csignal>
#include <fmt/format.h>
#include <sys/wait.h>

#include "tools/steptape/exit_code.h"
#include "tools/steptape/jobs/job_signals.h"
#include "tools/steptape/tables/signal_name.h"

namespace steptape::tools {
namespace {

constexpr int kSysexitsUsage = 64;  // EX_USAGE of sysexits.h

/// Returns the signal that ended a rank, as far as the exit code shows it; 0 if none.
int signalOf(const JobEnd& end, LauncherKind kind) {
  if (end.exitCode > kExitSignal && end.exitCode < kExitSignal + NSIG) {
    return end.exitCode - kExitSignal;
  }
  // MPICH's mpiexec returns the number of the signal. Small numbers are rather a program's own.
  if (kind == LauncherKind::kHydra) {
    for (const int signal : {SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGTERM}) {
      if (end.exitCode == signal) {
        return signal;
      }
    }
  }
  return 0;
}

}  // namespace

JobEnd jobEndOf(int waitStatus) {
  return WIFSIGNALED(waitStatus) ? JobEnd{kExitSignal + WTERMSIG(waitStatus), true}
                                 : JobEnd{WEXITSTATUS(waitStatus), false};
}

std::string describe(const JobEnd& end, LauncherKind kind) {
  if (end.died > 0) {
    return fmt::format("the launcher's exit code was 0, but {} of the job died",
                       end.died == 1 ? "a process" : fmt::format("{} processes", end.died));
  }
  const int signal = signalOf(end, kind);
  if (signal == 0) {
    return fmt::format("exit code {}", end.exitCode);
  }
  if (kind == LauncherKind::kNone) {
    return "killed by " + signalName(signal);
  }
  if (end.bySignal) {
    return fmt::format("the launcher was killed by {}", signalName(signal));
  }
  if (kind == LauncherKind::kSlurm && signal == SIGTERM) {
    return fmt::format("exit code {}: a rank died, and srun ended the others", end.exitCode);
  }
  return fmt::format("exit code {}, a rank was killed by {}", end.exitCode, signalName(signal));
}

std::string finalReason(const JobEnd& end, LauncherKind kind, const std::set<int>& more) {
  const int signal = signalOf(end, kind);
  // srun ends the other ranks of a dead one by SIGTERM, and returns the greatest code of all; if
  // somebody stops the job, Slurm sends the signal to its own parent as well. MPICH's mpiexec may
  // return 15 for an exception in a rank (4.0.2, in half of the jobs).
  const bool isOfLauncher = (kind == LauncherKind::kSlurm || kind == LauncherKind::kHydra) &&
                            signal == SIGTERM && !end.bySignal;
  if ((signal == SIGINT || signal == SIGTERM) && !isOfLauncher) {
    return fmt::format("somebody stopped it by {}", signalName(signal));
  }
  std::string meaning;
  if (end.exitCode == kExitUsage || end.exitCode == kSysexitsUsage) {
    meaning = "wrong arguments";
  } else if (end.exitCode == kExitCannotExecute) {
    meaning = "a program that cannot be executed";
  } else if (end.exitCode == kExitNotFound) {
    meaning = "a program that is not there";
  } else if (more.count(end.exitCode) > 0) {
    return fmt::format("exit code {} is one of --no-restart-codes", end.exitCode);
  }
  return meaning.empty() ? "" : fmt::format("exit code {} means {}", end.exitCode, meaning);
}

}  // namespace steptape::tools
