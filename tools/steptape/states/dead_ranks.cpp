// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/dead_ranks.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/text.h"
#include "process/blackbox/process_facts.h"
#include "process/blackbox/state_queries.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/signal_name.h"

namespace steptape::tools {
namespace {

using steptape::detail::base::startsWith;
using steptape::detail::process::BoxHeader;
using steptape::detail::process::kEndedItself;
using steptape::detail::process::kLeftEarly;
using steptape::detail::process::kUncaughtException;
using steptape::detail::process::RankState;

// A heartbeat that is later than a signal by more than this tells that the process survived it: the
// background thread goes on while a handler writes the stack.
constexpr double kHandlerSeconds = 10;
// Schedulers give a process this long between SIGTERM and SIGKILL, and many of them less.
constexpr double kGraceSeconds = 90;

/// @source sigaction(2), "The si_code field"
std::string faultOf(const RankState::Death& death) {
  const std::string address = fmt::format("0x{:x}", death.address);
  const auto isNear = [&] {
    constexpr std::uint64_t kGuard = 1 << 16;
    return death.stackPointer != 0 && death.address + kGuard > death.stackPointer &&
           death.address < death.stackPointer + kGuard;
  };
  switch (death.signal) {
    case SIGSEGV:
      return isNear() ? "its stack overflowed, at address " + address
             : death.code == SEGV_ACCERR
                 ? "it used memory that it may not use, at address " + address
             : death.address < 4096 ? "it used a null pointer, at address " + address
                                    : "it used an address that is not mapped, " + address;
    case SIGBUS:
      return "it used a mapping past the end of its file, or the file system was full, at "
             "address " +
             address;
    case SIGFPE:
      return death.code == FPE_INTDIV ? "it divided an integer by zero"
                                      : "an arithmetic operation failed";
    case SIGILL:
      return "it executed an instruction that this processor does not have, at address " + address;
    case SIGABRT:
      return "it called abort(), as a failed assertion and an uncaught exception do";
    case SIGXCPU:
      return "it used more processor time than its limit, 'ulimit -t'";
    case SIGXFSZ:
      return "a file became larger than its limit, 'ulimit -f'";
    case SIGPIPE:
      return "it wrote to a pipe or socket that nobody reads any more";
    case SIGALRM:
      return "a timer of its own ran out";
    default:
      return "";
  }
}

Cause causeOfSignal(const RankView& rank) {
  const RankState::Death& death = rank.state.death;
  const std::string name = signalName(death.signal);
  Cause cause;
  if (death.signal == SIGABRT && startsWith(rank.state.lastError, kUncaughtException)) {
    cause.kind = Cause::Kind::kException;
    cause.text = "was ended by an exception that nothing caught: " +
                 rank.state.lastError.substr(std::strlen(kUncaughtException));
    cause.advice = "The stack below shows where it was thrown.";
    return cause;
  }
  // A positive code: the kernel saw a fault.
  const bool isOfKernel = death.signal == SIGPIPE || death.signal == SIGALRM;
  const bool isSelf = death.senderPid == rank.state.process.pid;
  if (death.code > 0 || death.signal == SIGABRT || isSelf || death.senderPid == 0) {
    cause.kind = Cause::Kind::kFault;
    cause.text = fmt::format("was ended by {}: {}", name,
                             death.code <= 0 && death.signal != SIGABRT && !isOfKernel
                                 ? std::string("it raised the signal itself")
                                 : faultOf(death));
    cause.advice = death.frames.empty() ? ""
                   : death.signal == SIGABRT
                       ? "Read what it printed last on stderr, and the stack below."
                       : "The stack below shows where. Run the same step with a debugger or "
                         "-fsanitize=address.";
  } else {
    cause.kind = Cause::Kind::kSentSignal;
    cause.text = fmt::format("was ended by {}, which {} sent", name, senderOf(death));
    cause.advice = "It is not the program's own fault: find out why it was sent.";
  }
  return cause;
}

bool areInOneCgroup(const RankView& a, const RankView& b) {
  return hostOf(a) == hostOf(b) && a.state.cgroupLimit == b.state.cgroupLimit;
}

/// Returns how many processes of the rank's cgroup the kernel has killed for lack of memory since
/// the rank started; 0 if that is unknown.
std::int64_t kernelKills(const RankView& rank, const Job& job,
                         const std::vector<Surroundings>& machines) {
  const RankState& state = rank.state;
  std::int64_t after = state.oomKills;
  for (const RankView& other : job.ranks) {
    if (areInOneCgroup(other, rank)) {
      after = std::max(after, other.state.oomKills);
    }
  }
  // The tool's own cgroup is the same one only if it looks the same.
  for (const Surroundings& here : machines) {
    if (here.host == hostOf(rank) && here.cgroupLimit == state.cgroupLimit &&
        here.cgroupLimit > 0) {
      after = std::max(after, here.oomKills);
    }
  }
  return state.oomKillsAtStart < 0 ? 0 : std::max<std::int64_t>(after - state.oomKillsAtStart, 0);
}

std::string memoryOf(const RankState& state) {
  if (state.residentBytes < 0) {
    return state.cgroupLimit <= 0
               ? ""
               : fmt::format(" The limit of its cgroup is {}.",
                             humanBytes(static_cast<std::uint64_t>(state.cgroupLimit)));
  }
  return fmt::format(" It used {}{}.", humanBytes(static_cast<std::uint64_t>(state.residentBytes)),
                     state.cgroupLimit <= 0 || state.cgroupBytes < 0
                         ? ""
                         : fmt::format("; its cgroup {} of {}",
                                       humanBytes(static_cast<std::uint64_t>(state.cgroupBytes)),
                                       humanBytes(static_cast<std::uint64_t>(state.cgroupLimit))));
}

Cause causeUnknown(const RankState& state) {
  Cause cause;
  cause.kind = Cause::Kind::kNoTrace;
  cause.text =
      "ended without a trace: by SIGKILL from an unknown sender, or by _exit(), which "
      "leaves none." +
      memoryOf(state);
  cause.advice =
      "Look at the launcher's output and the scheduler's record of the job for the "
      "exit code.";
  return cause;
}

/// Collects what tells that the kernel has killed for lack of memory.
Cause causeWithoutTrace(const RankView& rank, const Job& job,
                        const std::vector<Surroundings>& machines) {
  const RankState& state = rank.state;
  const bool isFull = state.cgroupLimit > 0 && static_cast<double>(state.cgroupBytes) >=
                                                   0.9 * static_cast<double>(state.cgroupLimit);
  const std::int64_t kills = kernelKills(rank, job, machines);
  Cause cause;
  if (kills > 0) {
    cause.kind = Cause::Kind::kOutOfMemory;
    cause.text = fmt::format(
        "was{} killed by the kernel because memory ran out: it ended without a trace, and the "
        "kernel has killed in its cgroup {} since it started.{}",
        isFull ? "" : " probably", counted(static_cast<std::uint64_t>(kills), "time"),
        memoryOf(state));
    cause.advice =
        "Ask for more memory, or use less of it: smaller batches, fewer loader processes.";
  } else if (isFull) {
    cause.kind = Cause::Kind::kMemoryAtLimit;
    cause.text =
        "ended without a trace while its memory was at the limit; probably the kernel "
        "killed it because memory ran out." +
        memoryOf(state);
    cause.advice =
        "Ask for more memory, or use less of it. 'dmesg' and the scheduler's record of "
        "the job confirm it.";
  } else {
    return causeUnknown(state);
  }
  return cause;
}

/// Returns whether the kernel has killed `a` rather than `b`, for lack of memory: it kills the
/// process that uses most. The writers' background thread measures that. Where one of the two has
/// none, a rank that waited for others took no memory.
bool isLikelierKilled(const RankView& a, const RankView& b) {
  if (a.state.heartbeat > 0 && b.state.heartbeat > 0) {
    return a.state.residentBytes > b.state.residentBytes;
  }
  return collectiveInFlight(a.state) == nullptr && collectiveInFlight(b.state) != nullptr;
}

/// Leaves the kernel no more ranks of a cgroup than it says that it has killed. The others ended
/// without a trace too, as a launcher ends them.
void keepLikeliestKilled(const Job& job, const std::vector<Surroundings>& machines,
                         std::vector<DeadRank>* dead) {
  std::vector<DeadRank*> killed;
  for (DeadRank& rank : *dead) {
    if (rank.cause.kind == Cause::Kind::kOutOfMemory ||
        rank.cause.kind == Cause::Kind::kMemoryAtLimit) {
      killed.push_back(&rank);
    }
  }
  std::vector<DeadRank*> innocent;
  for (DeadRank* const rank : killed) {
    const auto likelier = std::count_if(killed.begin(), killed.end(), [&](const DeadRank* other) {
      return areInOneCgroup(*other->rank, *rank->rank) &&
             isLikelierKilled(*other->rank, *rank->rank);
    });
    if (likelier >= std::max<std::int64_t>(kernelKills(*rank->rank, job, machines), 1)) {
      innocent.push_back(rank);
    }
  }
  for (DeadRank* const rank : innocent) {
    rank->cause = causeUnknown(rank->rank->state);
  }
}

/// What the process noted as its last act.
std::optional<Cause> causeOfLastAct(const RankState& state) {
  if (lastSignOf(state) - state.lastErrorTime > kGraceSeconds) {
    return std::nullopt;  // it survived
  }
  Cause cause;
  if (startsWith(state.lastError, kEndedItself)) {
    cause.kind = Cause::Kind::kEndedItself;
    cause.text =
        "ended the job after an error: " + state.lastError.substr(std::strlen(kEndedItself));
    return cause;
  }
  if (startsWith(state.lastError, kLeftEarly)) {
    const std::string code = state.lastError.substr(std::strlen(kLeftEarly));
    cause.kind = Cause::Kind::kLeftEarly;
    cause.text = "called exit(" + code + ") while the job ran: launchers then end the other ranks";
    cause.advice = "Let the Environment end before exit(), or call Environment::abort().";
    return cause;
  }
  return std::nullopt;
}

Cause causeOf(const RankView& rank, const Job& job, const std::vector<Surroundings>& machines) {
  const RankState& state = rank.state;
  if (const std::optional<Cause> cause = causeOfLastAct(state)) {
    return *cause;
  }
  if (state.death.signal != 0 && state.heartbeat - state.death.time < kHandlerSeconds) {
    return causeOfSignal(rank);
  }
  if (state.termination.signal != 0 && lastSignOf(state) - state.termination.time < kGraceSeconds) {
    Cause cause;
    cause.kind = Cause::Kind::kTerminated;
    const double delay = lastSignOf(state) - state.termination.time;
    constexpr double kWorthTelling = 1;
    cause.text = fmt::format("ended {}after SIGTERM, which {} sent",
                             delay < kWorthTelling ? "" : humanDuration(delay) + " ",
                             senderOf(state.termination));
    cause.advice = "Launchers and schedulers send SIGTERM if another rank has died, or time is up.";
    return cause;
  }
  return causeWithoutTrace(rank, job, machines);
}

double deathTime(const RankView& rank, const Cause& cause) {
  switch (cause.kind) {
    case Cause::Kind::kException:
    case Cause::Kind::kFault:
    case Cause::Kind::kSentSignal:
      return rank.state.death.time;
    case Cause::Kind::kEndedItself:
    case Cause::Kind::kLeftEarly:
      return rank.state.lastErrorTime;
    default:
      return lastSignOf(rank.state);
  }
}

}  // namespace

Surroundings surroundingsHere() {
  const steptape::detail::process::MemoryUse use = steptape::detail::process::measureMemory();
  return {use.oomKills, use.cgroupLimit,
          BoxHeader::textOf(steptape::detail::process::headerOfThisProcess().host)};
}

std::string senderOf(const RankState::Death& death) {
  return death.senderPid == 0
             ? std::string("the kernel")
             : fmt::format("process {}{} of user {}", death.senderPid,
                           death.senderName.empty() ? "" : " (" + death.senderName + ")",
                           death.senderUid);
}

bool isDead(const RankView& rank) {
  return rank.life == Life::kDead ||
         (rank.life == Life::kUnknown && rank.state.death.signal != 0 &&
          rank.state.heartbeat - rank.state.death.time < kHandlerSeconds);
}

std::vector<DeadRank> deadRanksOf(const Job& job, const std::vector<Surroundings>& machines) {
  std::vector<DeadRank> dead;
  for (const RankView& rank : job.ranks) {
    if (isDead(rank)) {
      Cause cause = causeOf(rank, job, machines);
      const double time = rank.jobTime(deathTime(rank, cause));
      dead.push_back({&rank, time, std::move(cause)});
    }
  }
  keepLikeliestKilled(job, machines, &dead);
  return dead;
}

}  // namespace steptape::tools
