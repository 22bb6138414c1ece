// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/autopsy_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <utility>

#include "tools/steptape/states/stack_text.h"
#include "tools/steptape/tables/human_text.h"

namespace steptape::tools {
namespace {

using steptape::detail::process::RankState;

std::string capitalized(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text;
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') {
    text += '.';
  }
  return text;
}

std::string hostsOf(const std::vector<const RankView*>& ranks) {
  std::set<std::string> hosts;
  for (const RankView* const rank : ranks) {
    hosts.insert(hostOf(*rank));
  }
  constexpr std::size_t kMost = 8;
  std::string text;
  std::size_t count = 0;
  for (const std::string& host : hosts) {
    if (count++ == kMost) {
      return text + fmt::format(" and {} more", hosts.size() - kMost);
    }
    text += (text.empty() ? "" : ", ") + host;
  }
  return text;
}

std::string durationTo(double since, double until) {
  return humanDuration(std::max(0.0, until - since));
}

std::string placeOf(const RankState& state) {
  const std::string place = placeText(state);
  return place.empty() ? "nothing is known about where it was" : place;
}

/// Returns "rank 3 (process 4711 on node2)", or "process 4711 on node2" if it has no rank.
std::string fullNameOf(const RankView& rank) {
  const std::string process = fmt::format("process {} on {}", rank.state.process.pid, hostOf(rank));
  return rank.state.rank < 0 ? process : fmt::format("{} ({})", nameOf(rank), process);
}

void addBlocked(const Verdict& verdict, std::vector<std::string>* lines) {
  constexpr std::size_t kMost = 5;
  for (std::size_t i = 0; i < std::min(kMost, verdict.blocked.size()); ++i) {
    const BlockedCollective& blocked = verdict.blocked[i];
    double until = 0;
    for (const RankView* const rank : blocked.waiting) {
      until = std::max(until, rank->jobTime(rank->seen));
    }
    const bool areAllDead =
        std::all_of(blocked.waiting.begin(), blocked.waiting.end(),
                    [](const RankView* rank) { return rank->life == Life::kDead; });
    std::string who = namesOf(blocked.behind);
    if (!blocked.behindWithoutState.empty()) {
      who += fmt::format("{}rank{} {} (nothing left)", who.empty() ? "" : " and ",
                         blocked.behindWithoutState.size() == 1 ? "" : "s",
                         rangesOf(blocked.behindWithoutState));
    }
    lines->push_back(
        fmt::format("{} {} for {} in {} #{} for {}.", capitalized(namesOf(blocked.waiting)),
                    areAllDead                    ? "had waited"
                    : blocked.waiting.size() == 1 ? "has waited"
                                                  : "have waited",
                    who, blocked.name, blocked.sequence, durationTo(blocked.since, until)));
    constexpr std::size_t kMostBehind = 4;
    for (std::size_t k = 0; k < std::min(kMostBehind, blocked.behind.size()); ++k) {
      const RankView& rank = *blocked.behind[k];
      if (rank.life != Life::kDead) {
        lines->push_back(fmt::format("{} on {} (process {}) did not come to it: {}.",
                                     capitalized(nameOf(rank)), hostOf(rank),
                                     rank.state.process.pid, placeOf(rank.state)));
      }
    }
  }
}

/// Returns whether a scheduler may have ended the rank.
bool isFromOutside(const Cause& cause) {
  return cause.kind == Cause::Kind::kTerminated || cause.kind == Cause::Kind::kSentSignal ||
         cause.kind == Cause::Kind::kOutOfMemory || cause.kind == Cause::Kind::kMemoryAtLimit ||
         cause.kind == Cause::Kind::kNoTrace;
}

AutopsySection nextSection(const Job& job, const Verdict& verdict) {
  AutopsySection section{"What to do next", {}};
  if (!verdict.dead.empty() && !verdict.dead.front().cause.advice.empty()) {
    section.lines.push_back(verdict.dead.front().cause.advice);
  }
  if (!verdict.dead.empty() && verdict.dead.front().cause.kind == Cause::Kind::kException) {
    for (const BlockedCollective& blocked : verdict.blocked) {
      for (const RankView* const rank : blocked.behind) {
        if (rank == verdict.dead.front().rank) {
          continue;  // the others waited for the one that threw
        }
        section.lines.push_back(fmt::format("Find out why {} did not come to {}: {}.",
                                            nameOf(*rank), blocked.name, placeOf(rank->state)));
      }
    }
  }
  if (verdict.dead.empty()) {
    for (const BlockedCollective& blocked : verdict.blocked) {
      for (const RankView* const rank : blocked.behind) {
        if (collectiveInFlight(rank->state) == nullptr && rank->life == Life::kRuns) {
          section.lines.push_back(fmt::format(
              "See what {} does: on {}, 'gdb -p {}' or 'eu-stack "
              "-p {}' prints its stack.",
              nameOf(*rank), hostOf(*rank), rank->state.process.pid, rank->state.process.pid));
          break;
        }
      }
    }
  }
  if (!job.missing.empty()) {
    section.lines.push_back(
        "Ask the other machines too: --hosts names them, and inside an allocation of Slurm they "
        "are "
        "known.");
  }
  return section;
}

AutopsySection deadSection(const Verdict& verdict) {
  AutopsySection section{"Dead", {}};
  constexpr std::size_t kMost = 16;
  for (std::size_t i = 0; i < std::min(kMost, verdict.dead.size()); ++i) {
    const DeadRank& dead = verdict.dead[i];
    section.lines.push_back(fmt::format("{}  {} {}", humanTime(dead.time), fullNameOf(*dead.rank),
                                        sentence(dead.cause.text)));
    section.lines.push_back(fmt::format("  where: {}", placeOf(dead.rank->state)));
  }
  if (verdict.dead.size() > kMost) {
    section.lines.push_back(
        fmt::format("and {} more; --json lists all", verdict.dead.size() - kMost));
  }
  return section;
}

AutopsySection placesSection(const Verdict& verdict) {
  AutopsySection section{"Where the others are, smallest group first", {}};
  for (const RankPlace& place : verdict.places) {
    std::vector<std::string> parts;
    if (!place.phase.empty()) {
      parts.push_back("phase " + place.phase);
    }
    if (!place.collective.empty()) {
      parts.push_back(fmt::format("{} #{}", place.collective, place.sequence));
    }
    if (!place.zone.empty()) {
      parts.push_back(fmt::format("zone '{}'", place.zone));
    }
    double until = 0;
    for (const RankView* const rank : place.ranks) {
      until = std::max(until, rank->jobTime(rank->seen));
    }
    section.lines.push_back(fmt::format(
        "{}: {}{} ({} on {})", namesOf(place.ranks),
        parts.empty() ? std::string("no phase, collective or zone")
                      : fmt::format("{}", fmt::join(parts, ", ")),
        place.since > 0 ? fmt::format(", for {}", durationTo(place.since, until)) : std::string(),
        place.ranks.size(), hostsOf(place.ranks)));
  }
  return section;
}

AutopsySection stackSection(const Verdict& verdict) {
  AutopsySection section{"", {}, true};
  for (const DeadRank& dead : verdict.dead) {
    const std::vector<std::string> lines = stackLines(dead.rank->state);
    if (lines.empty() || dead.cause.kind > Cause::Kind::kSentSignal) {
      continue;
    }
    section.title = fmt::format("Stack of {}, thread {}, innermost first", nameOf(*dead.rank),
                                dead.rank->state.death.tid);
    section.lines = lines;
    break;
  }
  return section;
}

AutopsySection zonesSection(const Verdict& verdict) {
  AutopsySection section{"Open zones of the first to die, outermost first", {}, true};
  if (verdict.dead.empty()) {
    return section;
  }
  const DeadRank& first = verdict.dead.front();
  for (const RankState::Thread& thread : first.rank->state.threads) {
    std::vector<std::string> names;
    for (const RankState::OpenZone& zone : thread.zones) {
      names.push_back(zone.name);
    }
    if (!names.empty()) {
      section.lines.push_back(
          fmt::format("thread {} {}: {}", thread.tid, thread.name, fmt::join(names, " > ")));
    }
  }
  return section;
}

AutopsySection valuesSection(const Job& job, const Verdict& verdict) {
  AutopsySection section{"Last scalars", {}};
  for (const LostValue& lost : verdict.lost) {
    section.lines.push_back(
        fmt::format("{}: not finite from step {} on ({}); {}", lost.tag,
                    lost.value.firstNonFiniteStep, namesOf(lost.ranks),
                    lost.value.hasFinite
                        ? fmt::format("before that {} at step {}",
                                      shortNumber(lost.value.finiteValue), lost.value.finiteStep)
                        : std::string("it never was finite")));
  }
  std::vector<const RankState::LastValue*> values;
  std::set<std::string> tags;
  for (const RankView& rank : job.ranks) {
    for (const RankState::LastValue& value : rank.state.values) {
      if (!value.hasNonFinite && tags.insert(value.tag).second) {
        values.push_back(&value);
      }
    }
  }
  std::stable_sort(values.begin(), values.end(),
                   [](const auto* a, const auto* b) { return a->time > b->time; });
  constexpr std::size_t kMost = 10;
  for (std::size_t i = 0; i < std::min(kMost, values.size()); ++i) {
    section.lines.push_back(fmt::format("{}: {} at step {}", values[i]->tag,
                                        shortNumber(values[i]->value), values[i]->step));
  }
  return section;
}

std::string memoryText(std::int64_t bytes) {
  return humanBytes(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
}

AutopsySection memorySection(const Job& job) {
  AutopsySection section{"Memory", {}};
  std::map<std::string, std::vector<const RankView*>> hosts;
  for (const RankView& rank : job.ranks) {
    if (rank.state.residentBytes >= 0) {
      hosts[hostOf(rank)].push_back(&rank);
    }
  }
  for (const auto& [host, ranks] : hosts) {
    const RankView* largest = ranks.front();
    const RankView* newest = ranks.front();
    for (const RankView* const rank : ranks) {
      largest = rank->state.residentBytes > largest->state.residentBytes ? rank : largest;
      newest = rank->state.memoryTime > newest->state.memoryTime ? rank : newest;
    }
    std::string line = fmt::format("{}: {} has most, {}", host, nameOf(*largest),
                                   memoryText(largest->state.residentBytes));
    if (newest->state.cgroupBytes >= 0) {
      line += fmt::format("; cgroup {}", memoryText(newest->state.cgroupBytes));
      line += newest->state.cgroupLimit > 0
                  ? fmt::format(" of {}", memoryText(newest->state.cgroupLimit))
                  : std::string(", without a limit");
    }
    section.lines.push_back(std::move(line));
  }
  const auto onDevice = std::max_element(job.ranks.begin(), job.ranks.end(),
                                         [](const RankView& a, const RankView& b) {
                                           return a.state.deviceBytes < b.state.deviceBytes;
                                         });
  if (onDevice->state.deviceBytes >= 0) {
    section.lines.push_back(fmt::format("{} on {} has most on its device, {}", nameOf(*onDevice),
                                        hostOf(*onDevice),
                                        memoryText(onDevice->state.deviceBytes)));
  }
  return section;
}

AutopsySection errorsSection(const Job& job) {
  AutopsySection section{"Last errors that Steptape reported", {}};
  std::map<std::string, std::vector<const RankView*>> errors;
  for (const RankView& rank : job.ranks) {
    if (!rank.state.lastError.empty()) {
      errors[rank.state.lastError].push_back(&rank);
    }
  }
  for (const auto& [text, ranks] : errors) {
    section.lines.push_back(fmt::format("{}: {}", namesOf(ranks), text));
  }
  return section;
}

}  // namespace

std::string autopsyTitle(const Job& job) {
  const RankState& state = job.ranks.front().state;
  std::string text = job.id.empty() ? std::string("Job") : fmt::format("Job {}", job.id);
  if (job.worldSize > 0) {
    text += fmt::format(", {}", counted(static_cast<std::uint64_t>(job.worldSize), "rank"));
  }
  if (!state.logDirectories.empty()) {
    text += fmt::format(", {}", state.logDirectories.front());
  }
  return text + fmt::format(", last seen {}", humanTime(job.lastSign()));
}

std::vector<std::string> autopsyHeadline(const Job& job, const Verdict& verdict) {
  std::vector<std::string> lines;
  const std::string scheduler =
      verdict.scheduler.empty() ? "" : "Slurm says that " + verdict.scheduler + ".";
  const bool mayHaveEndedIt = !verdict.dead.empty() && isFromOutside(verdict.dead.front().cause);
  if (!scheduler.empty() && mayHaveEndedIt) {
    lines.push_back(scheduler);
  }
  if (!verdict.accused.empty()) {
    const bool isOne = verdict.accused.size() == 1;
    lines.push_back(fmt::format(
        "Rank{} {} {} the first to go, as others noticed; {} state is not on this machine.",
        isOne ? "" : "s", rangesOf(verdict.accused), isOne ? "was" : "were",
        isOne ? "its" : "their"));
  }
  if (verdict.firstDead > 1) {
    std::vector<const RankView*> together;
    for (std::size_t i = 0; i < verdict.firstDead; ++i) {
      together.push_back(verdict.dead[i].rank);
    }
    lines.push_back(fmt::format(
        "{} ended without a trace within {}, so which was the first cannot "
        "be told: by SIGKILL from an unknown sender, as launchers end the "
        "ranks of a dead one, or by _exit().",
        capitalized(namesOf(together)),
        durationTo(verdict.dead.front().time, verdict.dead[verdict.firstDead - 1].time)));
  } else if (!verdict.dead.empty()) {
    const DeadRank& first = verdict.dead.front();
    lines.push_back(sentence(fmt::format("{} on {} {}", capitalized(nameOf(*first.rank)),
                                         hostOf(*first.rank), first.cause.text)));
    if (verdict.dead.size() > 1) {
      std::vector<const RankView*> later;
      for (std::size_t i = 1; i < verdict.dead.size(); ++i) {
        later.push_back(verdict.dead[i].rank);
      }
      lines.push_back(fmt::format("{}{} died after it, within {}.",
                                  verdict.accused.empty() ? "It was the first to die. " : "",
                                  capitalized(namesOf(later)),
                                  durationTo(first.time, verdict.dead.back().time)));
    }
  }
  if (!verdict.stopped.empty()) {
    const bool isOne = verdict.stopped.size() == 1;
    lines.push_back(fmt::format(
        "{} on {} {} stopped, by SIGSTOP, Ctrl-Z or a debugger: 'kill -CONT {}' lets {} go on.",
        capitalized(namesOf(verdict.stopped)), hostsOf(verdict.stopped), isOne ? "is" : "are",
        verdict.stopped.front()->state.process.pid, isOne ? "it" : "the first of them"));
  }
  addBlocked(verdict, &lines);
  if (!verdict.lost.empty()) {
    const LostValue& first = verdict.lost.front();
    lines.push_back(fmt::format(
        "'{}' was not finite from step {} on{}.", first.tag, first.value.firstNonFiniteStep,
        first.value.hasFinite
            ? fmt::format("; the last finite value was {} at step {}",
                          shortNumber(first.value.finiteValue), first.value.finiteStep)
            : std::string()));
  }
  if (!scheduler.empty() && !mayHaveEndedIt) {
    lines.push_back(scheduler);
  }
  if (!job.missing.empty()) {
    lines.push_back(
        fmt::format("Of rank{} {} nothing is left: {} ended normally, or ran on another machine.",
                    job.missing.size() == 1 ? "" : "s", rangesOf(job.missing),
                    job.missing.size() == 1 ? "it" : "they"));
  }
  if (lines.empty()) {
    lines.push_back("No rank is dead or stopped, and none waits for another one.");
  }
  return lines;
}

std::vector<AutopsySection> autopsySections(const Job& job, const Verdict& verdict) {
  std::vector<AutopsySection> sections{nextSection(job, verdict), deadSection(verdict),
                                       placesSection(verdict),    zonesSection(verdict),
                                       stackSection(verdict),     valuesSection(job, verdict),
                                       memorySection(job),        errorsSection(job)};
  sections.erase(
      std::remove_if(sections.begin(), sections.end(),
                     [](const AutopsySection& section) { return section.lines.empty(); }),
      sections.end());
  return sections;
}

}  // namespace steptape::tools
