// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/verdict.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace steptape::tools {
namespace {

using steptape::detail::base::contains;
using steptape::detail::process::RankState;

// A process that leaves no trace may have lived this long after the last sign of it. Its background
// thread normally gives one every 0.1 s or less; over 1 s was seen where ranks shared processors.
constexpr double kUnseenSeconds = 3;

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
  verdict.dead = deadRanksOf(job, machines);
  for (const RankView& rank : job.ranks) {
    if (rank.life == Life::kStopped) {
      verdict.stopped.push_back(&rank);
    }
  }
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
