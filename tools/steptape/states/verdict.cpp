// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/verdict.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "base/text.h"
#include "process/blackbox/process_facts.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/signal_name.h"

namespace steptape::tools {
namespace {

using steptape::detail::base::contains;
using steptape::detail::base::startsWith;
using steptape::detail::process::BoxHeader;
using steptape::detail::process::kEndedItself;
using steptape::detail::process::kLeftEarly;
using steptape::detail::process::kUncaughtException;
using steptape::detail::process::RankState;
using CollectivePhase = RankState::CollectivePhase;

// A heartbeat that is later than a signal by more than this tells that the process survived it: the
// background thread goes on while a handler writes the stack.
constexpr double kHandlerSeconds = 10;
// A process that leaves no trace may have lived this long after the last sign of it. Its background
// thread normally gives one every 0.1 s or less; over 1 s was seen where ranks shared processors.
constexpr double kUnseenSeconds = 3;
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

/// Returns whether the text is that of an error of Steptape's.
bool isOfAnError(const Cause& cause) {
  return cause.kind == Cause::Kind::kException || cause.kind == Cause::Kind::kEndedItself;
}

/// Returns whether the exception follows from the death of another rank. One about a rank that did
/// not arrive comes a time limit later, and that rank may live.
bool tellsOfADeadRank(const Cause& cause) {
  return isOfAnError(cause) &&
         (contains(cause.text, "has ended") || contains(cause.text, "does not answer"));
}

/// Returns the ranks that such a text names: "…, since rank 3 (node2) has ended …".
std::vector<int> ranksNamedDead(const std::string& text) {
  const std::size_t end = std::min(text.find(" has ended"), text.find(" does not answer"));
  const std::size_t since = end == std::string::npos ? end : text.rfind("since ", end);
  const std::size_t begin = since == std::string::npos ? 0 : since;
  std::vector<int> ranks;
  constexpr std::string_view kRank = "rank ";
  for (std::size_t at = begin; end != std::string::npos && (at = text.find(kRank, at)) < end;) {
    at += kRank.size();
    const std::size_t digits = text.find_first_not_of("0123456789", at);
    if (digits != at && digits < end && text.compare(digits, 2, " (") == 0) {
      ranks.push_back(std::atoi(text.c_str() + at));
    }
  }
  return ranks;
}

/// Returns for how long the rank had waited for ranks that did not arrive when it ended for that; 0
/// if it ended for something else.
double waitedInVain(const DeadRank& rank) {
  const RankState::Collective* const collective = collectiveInFlight(rank.rank->state);
  return isOfAnError(rank.cause) && collective != nullptr &&
                 contains(rank.cause.text, "did not arrive")
             ? std::max(0.0, rank.time - rank.rank->jobTime(collective->start))
             : 0;
}

bool hasTrace(const Cause& cause) {
  return cause.kind != Cause::Kind::kNoTrace;
}

/// Returns the ranks that others found dead or silent when they ended.
std::set<int> accusedBy(const std::vector<DeadRank>& dead) {
  std::set<int> accused;
  for (const DeadRank& rank : dead) {
    if (tellsOfADeadRank(rank.cause)) {
      for (const int other : ranksNamedDead(rank.cause.text)) {
        accused.insert(other);
      }
    }
  }
  return accused;
}

/// Returns how many ranks, from the first on, may have been the first to die.
std::size_t firstDeadOf(const std::vector<DeadRank>& dead, const std::set<int>& accused) {
  if (dead.empty() || hasTrace(dead.front().cause) ||
      accused.count(dead.front().rank->state.rank) > 0) {
    return 1;
  }
  std::size_t count = 1;
  while (count < dead.size() && !hasTrace(dead[count].cause) &&
         dead[count].time - dead.front().time < kUnseenSeconds) {
    ++count;
  }
  return count;
}

/// Sorts by the time of death. A rank without a trace has died at its last sign or up to
/// kUnseenSeconds later: a launcher that kills the others at once leaves none of them. So a rank
/// with a cause of its own precedes it; a rank has none that got SIGTERM, or that failed because
/// another one was dead. A rank that waited in vain precedes those that gave a sign in the second
/// half of its wait: they lived, and did not arrive.
///
/// A rank without a trace that others found dead when they ended precedes those that are like it:
/// no order is claimed that only times of last signs give.
void sortByDeath(std::vector<DeadRank>* dead, const std::set<int>& accused) {
  const auto place = [&](const DeadRank& rank) {
    const bool isAccused = accused.count(rank.rank->state.rank) > 0;
    const bool hasOwnCause =
        isAccused || (hasTrace(rank.cause) && rank.cause.kind != Cause::Kind::kTerminated &&
                      !tellsOfADeadRank(rank.cause));
    return rank.time + (hasOwnCause ? -waitedInVain(rank) / 2 : kUnseenSeconds);
  };
  std::stable_sort(dead->begin(), dead->end(),
                   [&](const DeadRank& a, const DeadRank& b) { return place(a) < place(b); });
  for (DeadRank& rank : *dead) {
    rank.time = std::max(rank.time, dead->front().time);
  }
}

/// Returns whether the process has died; a copy tells so only by a signal.
bool isDead(const RankView& rank) {
  return rank.life == Life::kDead ||
         (rank.life == Life::kUnknown && rank.state.death.signal != 0 &&
          rank.state.heartbeat - rank.state.death.time < kHandlerSeconds);
}

void findBlocked(const Job& job, Verdict* verdict) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, BlockedCollective> found;
  for (const RankView& rank : job.ranks) {
    if (const RankState::Collective* const own = collectiveInFlight(rank.state)) {
      BlockedCollective& blocked = found[{own->group, own->sequence}];
      const double since = rank.jobTime(own->start);
      if (blocked.waiting.empty() || since < blocked.since) {
        blocked.since = since;
      }
      blocked.name = own->name;
      blocked.group = own->group;
      blocked.sequence = own->sequence;
      blocked.waiting.push_back(&rank);
    }
  }
  for (auto& [key, collective] : found) {
    BlockedCollective& blocked = collective;  // A lambda cannot capture a structured binding.
    std::set<int> inGroup;
    int size = 0;
    for (const RankView& rank : job.ranks) {
      const RankState::Group* const group = groupOf(rank.state, blocked.group);
      if (group == nullptr) {
        continue;
      }
      size = std::max(size, group->size);
      blocked.groupName = group->name;
      inGroup.insert(group->rank);
      if (group->started < blocked.sequence) {
        blocked.behind.push_back(&rank);
      }
    }
    if (size == job.worldSize) {
      for (const int rank : job.missing) {
        if (inGroup.count(rank) == 0) {
          blocked.behindWithoutState.push_back(rank);
        }
      }
    }
    std::stable_sort(blocked.behind.begin(), blocked.behind.end(),
                     [&](const RankView* a, const RankView* b) {
                       return groupOf(a->state, blocked.group)->started <
                              groupOf(b->state, blocked.group)->started;
                     });
    if (!blocked.behind.empty() || !blocked.behindWithoutState.empty()) {
      verdict->blocked.push_back(std::move(blocked));
    }
  }
  std::stable_sort(
      verdict->blocked.begin(), verdict->blocked.end(),
      [](const BlockedCollective& a, const BlockedCollective& b) { return a.since < b.since; });
}

void findPlaces(const Job& job, Verdict* verdict) {
  std::map<std::tuple<std::string, std::string, std::uint64_t, std::uint64_t, std::string>,
           RankPlace>
      places;
  for (const RankView& rank : job.ranks) {
    if (isDead(rank)) {
      continue;
    }
    const RankState& state = rank.state;
    RankPlace place;
    place.phase = runPhaseName(state.phase);
    place.since = state.phaseSince;
    std::uint64_t group = 0;
    if (const RankState::Thread* const thread = mainThread(state)) {
      place.zone = thread->zones.back().name;
      place.since = thread->zones.back().start;
    }
    if (const RankState::Collective* const collective = collectiveInFlight(state)) {
      place.collective = collective->name;
      place.sequence = collective->sequence;
      place.since = collective->start;
      group = collective->group;
    }
    place.since = rank.jobTime(place.since);
    RankPlace& known = places[{place.phase, place.collective, group, place.sequence, place.zone}];
    if (known.ranks.empty()) {
      known = place;
    } else if (place.since > 0 && (known.since <= 0 || place.since < known.since)) {
      known.since = place.since;
    }
    known.ranks.push_back(&rank);
  }
  for (auto& [key, place] : places) {
    verdict->places.push_back(std::move(place));
  }
  std::stable_sort(
      verdict->places.begin(), verdict->places.end(),
      [](const RankPlace& a, const RankPlace& b) { return a.ranks.size() < b.ranks.size(); });
}

void findLost(const Job& job, Verdict* verdict) {
  std::map<std::string, LostValue> lost;
  for (const RankView& rank : job.ranks) {
    for (const RankState::LastValue& value : rank.state.values) {
      if (!value.hasNonFinite) {
        continue;
      }
      LostValue& known = lost[value.tag];
      if (known.ranks.empty() || value.firstNonFiniteStep < known.value.firstNonFiniteStep) {
        known.value = value;
      }
      known.tag = value.tag;
      known.ranks.push_back(&rank);
    }
  }
  for (auto& [tag, value] : lost) {
    verdict->lost.push_back(std::move(value));
  }
  std::stable_sort(verdict->lost.begin(), verdict->lost.end(),
                   [](const LostValue& a, const LostValue& b) {
                     return a.value.firstNonFiniteStep < b.value.firstNonFiniteStep;
                   });
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

std::string rangesOf(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) {
      ++end;
    }
    text += text.empty() ? "" : ", ";
    text += end - i == 1 ? fmt::to_string(numbers[i])
                         : fmt::format("{}-{}", numbers[i], numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string namesOf(const std::vector<const RankView*>& ranks) {
  std::vector<int> numbers;
  std::string text;
  for (const RankView* const rank : ranks) {
    if (rank->state.rank >= 0) {
      numbers.push_back(rank->state.rank);
    } else {
      text += (text.empty() ? "" : ", ") + nameOf(*rank);
    }
  }
  if (numbers.empty()) {
    return text;
  }
  std::sort(numbers.begin(), numbers.end());
  return fmt::format("rank{} {}{}{}", numbers.size() == 1 ? "" : "s", rangesOf(numbers),
                     text.empty() ? "" : ", ", text);
}

Verdict judge(const Job& job, const std::vector<Surroundings>& machines) {
  Verdict verdict;
  for (const RankView& rank : job.ranks) {
    if (isDead(rank)) {
      Cause cause = causeOf(rank, job, machines);
      const double time = rank.jobTime(deathTime(rank, cause));
      verdict.dead.push_back({&rank, time, std::move(cause)});
    } else if (rank.life == Life::kStopped) {
      verdict.stopped.push_back(&rank);
    }
  }
  keepLikeliestKilled(job, machines, &verdict.dead);
  const std::set<int> accused = accusedBy(verdict.dead);
  sortByDeath(&verdict.dead, accused);
  verdict.firstDead = firstDeadOf(verdict.dead, accused);
  for (const int rank : accused) {
    if (std::find(job.missing.begin(), job.missing.end(), rank) != job.missing.end()) {
      verdict.accused.push_back(rank);
    }
  }
  findBlocked(job, &verdict);
  findPlaces(job, &verdict);
  findLost(job, &verdict);
  return verdict;
}

}  // namespace steptape::tools
