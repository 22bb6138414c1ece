// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/job_supervisor.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"

#include "tools/steptape/exit_code.h"
#include "tools/steptape/hosts/host_check.h"
#include "tools/steptape/hosts/slurm_job.h"
#include "tools/steptape/jobs/after_death.h"
#include "tools/steptape/jobs/host_file.h"
#include "tools/steptape/jobs/processes.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/signal_name.h"
#include "tools/steptape/terminal/standard_streams.h"

namespace steptape::tools {
namespace {

constexpr char kCountVariable[] = "STEPTAPE_RESTART_COUNT";
constexpr char kMostVariable[] = "STEPTAPE_MAX_RESTARTS";
constexpr auto kSecondInterrupt = std::chrono::seconds(10);
constexpr auto kGrace = std::chrono::milliseconds(1000);
constexpr auto kLongestEnd = std::chrono::seconds(10);
/// How long the user's command may hold up the end of this program.
constexpr auto kLongestLastCommand = std::chrono::seconds(30);
constexpr auto kLongestStoppedCommand = std::chrono::seconds(5);
constexpr auto kReapPeriod = std::chrono::milliseconds(20);
/// Should a SIGCHLD be lost: a library may have a thread that takes it.
constexpr auto kLookForEnd = std::chrono::seconds(1);

void say(const std::string& text) {
  printMessage("steptape run: " + text);
}

std::uint64_t unsignedOf(int count) {
  return static_cast<std::uint64_t>(count);
}

/// How far this clock may be from that of the job's processes.
constexpr double kClockSlack = 1;

double wallSecondsAgo(double seconds) {
  return steptape::Clock::system().wallSeconds() - seconds - kClockSlack;
}

/// srun returns an errno for a program that is not there, as programs do for other things.
/// @return the exit code of a shell for it; 0 if the program is there.
int missingBehindSrun(const JobEnd& end, const std::string& program) {
  const bool isErrno = end.exitCode == ENOENT || end.exitCode == EACCES;
  if (!isErrno || !findProgram(program).empty()) {
    return 0;
  }
  return end.exitCode == ENOENT ? kExitNotFound : kExitCannotExecute;
}

/// Returns whether the launcher understands a signal that is passed on to it.
bool understands(LauncherKind kind, int signal) {
  // MPICH's mpiexec dies of it.
  return !(kind == LauncherKind::kHydra && signal == SIGUSR2);
}

/// Returns whether the launcher ends all ranks at SIGTERM, also those that ignore it. MPICH's
/// mpiexec passes it on and waits, without limit; if it is killed, its proxies kill the ranks. Of a
/// program that no launcher supervises, no more is known.
bool endsRanksAtSigterm(LauncherKind kind) {
  return kind != LauncherKind::kNone && kind != LauncherKind::kHydra;
}

}  // namespace

JobSupervisor::JobSupervisor(JobPlan plan)
    : plan_(std::move(plan)), policy_(plan_.limits), events_(eventCommandOf(plan_.onEvent)) {
  if (!plan_.run.empty()) {
    progress_.emplace(plan_.run);
  }
  adoptOrphans();
}

JobSupervisor::~JobSupervisor() {
  if (events_ != nullptr) {
    // Who asks to end may kill this process soon.
    events_->drain(endSignal_ == 0 ? kLongestLastCommand : kLongestStoppedCommand, [this] {
      const std::optional<ArrivedSignal> signal = signals_.waitUntil(Clock::now());
      return !signal || !asksToEnd(signal->number);
    });
  }
}

int JobSupervisor::run() {
  allowMoreRanksThanCores(plan_.launcher, plan_.hosts);
  ::setenv(kMostVariable, std::to_string(plan_.limits.maxRestarts).c_str(), 1);
  Place place = findPlace();
  for (;;) {
    const FailedStart start = place.ranks >= plan_.minRanks
                                  ? startAndWait(place)
                                  : FailedStart{0, std::nullopt, false, "", false};
    if (start.wasStarted && end_.exitCode == kExitFine && endSignal_ != 0) {
      const std::string text = fmt::format(
          "the job was stopped by {} after {} and ended well; exit code {} says that it can go on",
          signalName(endSignal_), humanDuration(start.seconds), kExitStopped);
      say(text);
      tell("ended", text, exitCodeMember());
      return kExitStopped;
    }
    if (start.wasStarted && end_.exitCode == kExitFine) {
      if (starts_ > 1) {
        say(fmt::format("the job is done after {}", counted(unsignedOf(starts_ - 1), "restart")));
      }
      tell("ended", "the job is done", exitCodeMember());
      return kExitFine;
    }
    const RestartDecision decision = policy_.judge(start);
    report(start, decision);
    if (!decision.whyNot.empty()) {
      return end_.exitCode;
    }
    int signal = pauseFor(decision.pause);
    if (signal == 0) {
      place = findPlace();
      signal = pauseFor(0);  // for one that arrived meanwhile
    }
    if (signal != 0) {
      say(fmt::format("stopped by {}; the job is not started again", signalName(signal)));
      return kExitSignal + signal;
    }
  }
}

JobSupervisor::Place JobSupervisor::findPlace() const {
  if (plan_.hosts.empty()) {
    return {plan_.ranks, {}};
  }
  Place place;
  place.hosts = answeringHosts(plan_.hosts, plan_.remoteShell);
  place.ranks = std::min(plan_.ranks, slotsOf(place.hosts));
  std::string silent;
  for (const Host& host : plan_.hosts) {
    const auto hasName = [&](const Host& other) { return other.name == host.name; };
    if (std::none_of(place.hosts.begin(), place.hosts.end(), hasName)) {
      silent += (silent.empty() ? "" : ", ") + host.name;
    }
  }
  if (!silent.empty()) {
    say(fmt::format("no answer from {}; the other hosts take {} of {} ranks", silent, place.ranks,
                    plan_.ranks));
  }
  return place;
}

FailedStart JobSupervisor::startAndWait(const Place& place) {
  ::setenv(kCountVariable, std::to_string(starts_).c_str(), 1);
  ++starts_;
  tell(starts_ == 1 ? "started" : "resumed",
       starts_ == 1 ? "the job begins"
                    : fmt::format("the job begins again: restart {}", starts_ - 1));
  const HostFile hostFile(plan_.launcher.kind == LauncherKind::kHydra ? machineFile(place.hosts)
                                                                      : "");
  const std::vector<std::string> command = startCommand(
      plan_.launcher,
      {place.ranks, place.hosts, hostFile.path(), plan_.program, {kCountVariable, kMostVariable}});
  // A job in the terminal's foreground shares the group of this process: it reads the terminal,
  // and gets Ctrl-C and Ctrl-Z from it.
  const bool ownGroup = !isInForeground();
  const int deathSignal = endsRanksAtSigterm(plan_.launcher.kind) ? SIGTERM : SIGKILL;
  const Clock::time_point begin = Clock::now();
  const StartedProcess started = startJob(command, signals_, ownGroup, deathSignal);
  if (started.process < 0) {
    end_ = {started.error == ENOENT ? kExitNotFound : kExitCannotExecute, false};
    say(fmt::format("cannot start {}: {}", command.front(),
                    std::generic_category().message(started.error)));
  } else {
    end_ = waitFor(started.process, ownGroup);
  }
  FailedStart start;
  start.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  endLeftovers(kGrace);
  correctEnd(start.seconds);
  if (end_.exitCode == kExitFine) {
    return start;
  }
  if (progress_) {
    start.madeProgress = progress_->update();
  }
  start.finalReason = endSignal_ != 0
                          ? "stopped by " + signalName(endSignal_)
                          : finalReason(end_, plan_.launcher.kind, plan_.noRestartCodes);
  if (endSignal_ == 0) {
    aftermath_.emplace(remainsPlace(), wallSecondsAgo(start.seconds));
    start.ranOutOfMemory = aftermath_->ranOutOfMemory();
  }
  return start;
}

JobSelection JobSupervisor::remainsPlace() const {
  JobSelection place;
  if (!plan_.run.empty()) {
    place.paths.push_back(plan_.run);
  }
  place.hosts = namesOf(plan_.hosts);
  place.remoteShell = fmt::format("{}", fmt::join(plan_.remoteShell, " "));
  return place;
}

void JobSupervisor::correctEnd(double seconds) {
  const LauncherKind kind = plan_.launcher.kind;
  if (kind == LauncherKind::kSlurm) {
    if (const int code = missingBehindSrun(end_, plan_.program.front())) {
      end_.exitCode = code;
    }
  }
  // MPICH's mpiexec kills the other ranks of one that called exit(), and then returns at random its
  // code or 9.
  const bool mayBeWrong = end_.exitCode == kExitFine || end_.exitCode == SIGKILL;
  if (kind == LauncherKind::kHydra && mayBeWrong && !plan_.run.empty()) {
    // Without slack, which may reach back to the start before. All that is here has this clock.
    const Remains remains = remainsSince(remainsPlace(), wallSecondsAgo(seconds) + kClockSlack);
    if (end_.exitCode == kExitFine && remains.died > 0) {
      end_.died = remains.died;
      end_.exitCode = kExitProblem;
    } else if (remains.exitCode.value_or(kExitFine) != kExitFine) {
      end_.exitCode = *remains.exitCode;
    }
  }
}

JobEnd JobSupervisor::waitFor(pid_t launcher, bool ownGroup) {
  for (;;) {
    if (const std::optional<int> status = reap(launcher)) {
      return jobEndOf(*status);
    }
    const std::optional<ArrivedSignal> signal = signals_.waitUntil(Clock::now() + kLookForEnd);
    if (signal && signal->number != SIGCHLD) {
      take(*signal, launcher, ownGroup);
    }
  }
}

std::optional<int> JobSupervisor::reap(pid_t launcher) {
  std::optional<int> ofLauncher;
  int status = 0;
  // One SIGCHLD may stand for several processes: also for orphans of the job.
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended == launcher) {
      ofLauncher = status;
    } else if (events_ != nullptr) {
      events_->noteEnd(ended, status);
    }
  }
  return ofLauncher;
}

void JobSupervisor::take(const ArrivedSignal& signal, pid_t launcher, bool ownGroup) {
  if (asksToEnd(signal.number) && endSignal_ == 0) {
    endSignal_ = signal.number;
  }
  if (signal.number == SIGINT) {
    const Clock::time_point now = Clock::now();
    if (interrupt_ && now - *interrupt_ < kSecondInterrupt) {
      say("a second SIGINT; killing the job");
      ::kill(launcher, SIGKILL);
      return;
    }
    interrupt_ = now;
  }
  const bool hasArrived = signal.fromTerminal && !ownGroup;
  if (!hasArrived && understands(plan_.launcher.kind, signal.number)) {
    ::kill(launcher, signal.number);
  }
  if (signal.number == SIGTSTP) {
    ::raise(SIGSTOP);
  }
}

void JobSupervisor::endLeftovers(std::chrono::milliseconds grace) {
  const Clock::time_point killFrom = Clock::now() + grace;
  for (;;) {
    reap(0);
    const std::vector<pid_t> left = childrenOutside(events_ != nullptr ? events_->group() : 0);
    if (left.empty()) {
      return;
    }
    const Clock::time_point now = Clock::now();
    if (now >= killFrom + kLongestEnd) {
      say("a process of the job does not end");
      return;
    }
    if (now >= killFrom) {
      // The children of the killed ones become children of this process, and are next. None can
      // have a new process id: only this process reaps them.
      for (const pid_t child : left) {
        ::kill(child, SIGKILL);
      }
    }
    const std::optional<ArrivedSignal> signal = signals_.waitUntil(now + kReapPeriod);
    if (signal && asksToEnd(signal->number) && endSignal_ == 0) {
      endSignal_ = signal->number;
    }
  }
}

void JobSupervisor::report(const FailedStart& start, const RestartDecision& decision) const {
  if (endSignal_ != 0) {
    const char* const job = std::getenv("SLURM_JOB_ID");
    const std::string why = job == nullptr ? "" : slurmSays(job);
    const std::string text =
        fmt::format("the job was stopped by {} after {}: {}{}", signalName(endSignal_),
                    humanDuration(start.seconds), describe(end_, plan_.launcher.kind),
                    why.empty() ? "" : "; Slurm says that " + why);
    say(text);
    tell("ended", text, exitCodeMember());
    return;
  }
  if (start.wasStarted) {
    const std::string text = fmt::format("the job died after {}: {}", humanDuration(start.seconds),
                                         describe(end_, plan_.launcher.kind));
    say(text);
    aftermath_->report();
    const std::string headline = aftermath_->headline();
    tell("died", headline.empty() ? text : text + "; " + headline, exitCodeMember());
  } else {
    say(fmt::format("too few hosts answer \"{} HOST true\"; expected slots for {}",
                    fmt::join(plan_.remoteShell, " "),
                    counted(unsignedOf(plan_.minRanks), "rank")));
  }
  printMessage(decision.whyNot.empty()
                   ? fmt::format("  {} again in {}; {} left after that",
                                 start.wasStarted ? "starting it" : "asking",
                                 humanDuration(decision.pause),
                                 counted(unsignedOf(decision.restartsLeft), "restart"))
                   : "  not started again: " + decision.whyNot);
}

void JobSupervisor::tell(const char* event, const std::string& message,
                         const std::string& members) const {
  if (events_ != nullptr) {
    events_->post(event, message, plan_.run, fmt::format(", \"start\": {}{}", starts_, members),
                  /*isRare=*/true);
  }
}

std::string JobSupervisor::exitCodeMember() const {
  return fmt::format(", \"exit_code\": {}", end_.exitCode);
}

int JobSupervisor::pauseFor(double pause) {
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(pause));
  while (const std::optional<ArrivedSignal> signal = signals_.waitUntil(end)) {
    if (asksToEnd(signal->number)) {
      return signal->number;
    }
    if (signal->number == SIGTSTP) {
      ::raise(SIGSTOP);
    }
  }
  return 0;
}

}  // namespace steptape::tools
