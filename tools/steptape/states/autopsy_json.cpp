// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/autopsy_json.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/steptape/states/autopsy_report.h"
#include "tools/steptape/states/stack_text.h"
#include "tools/steptape/tables/json_pieces.h"

namespace steptape::tools {
namespace {

using steptape::detail::process::RankState;

std::string jsonTexts(const std::vector<const RankView*>& ranks) {
  std::vector<std::string> texts;
  texts.reserve(ranks.size());
  for (const RankView* const rank : ranks) {
    texts.push_back(rank->state.rank >= 0 ? jsonInteger(std::int64_t{rank->state.rank}) : "null");
  }
  return jsonShortArray(texts);
}

const char* lifeName(Life life) {
  constexpr std::array<const char*, 4> kNames{"unknown", "runs", "stopped", "dead"};
  return kNames.at(static_cast<std::size_t>(life));
}

const char* kindName(Cause::Kind kind) {
  switch (kind) {
    case Cause::Kind::kException:
      return "exception";
    case Cause::Kind::kFault:
      return "fault";
    case Cause::Kind::kSentSignal:
      return "sent_signal";
    case Cause::Kind::kEndedItself:
      return "ended_itself";
    case Cause::Kind::kLeftEarly:
      return "left_early";
    case Cause::Kind::kTerminated:
      return "terminated";
    case Cause::Kind::kOutOfMemory:
      return "out_of_memory";
    case Cause::Kind::kMemoryAtLimit:
      return "memory_at_limit";
    case Cause::Kind::kNoTrace:
      break;
  }
  return "no_trace";
}

}  // namespace

std::string autopsyJson(const Job& job, const Verdict& verdict) {
  std::vector<std::string> ranks;
  for (const RankView& rank : job.ranks) {
    const RankState& state = rank.state;
    JsonObject object;
    object.add("rank", jsonInteger(std::int64_t{state.rank}))
        .add("host", jsonString(hostOf(rank)))
        .add("pid", jsonInteger(state.process.pid))
        .add("life", jsonString(lifeName(rank.life)))
        .add("seen", jsonNumber(rank.seen))
        .add("heartbeat", jsonNumber(state.heartbeat))
        .add("step", state.hasStep ? jsonInteger(state.step) : "null")
        .add("phase", jsonString(runPhaseName(state.phase)))
        .add("resident_bytes", jsonInteger(state.residentBytes))
        .add("device_bytes", jsonInteger(state.deviceBytes));
    const RankState::Thread* const thread = mainThread(state);
    std::vector<std::string> zones;
    for (std::size_t i = 0; thread != nullptr && i < thread->zones.size(); ++i) {
      zones.push_back(thread->zones[i].name);
    }
    object.add("zones", jsonStrings(zones));
    if (const RankState::Collective* const collective = collectiveInFlight(state)) {
      object.add("collective", JsonObject()
                                   .add("name", jsonString(collective->name))
                                   .add("sequence", jsonInteger(collective->sequence))
                                   .add("start", jsonNumber(collective->start))
                                   .toString());
    }
    object.add("last_error", jsonString(state.lastError));
    ranks.push_back(object.toString());
  }
  std::vector<std::string> dead;
  for (const DeadRank& rank : verdict.dead) {
    dead.push_back(JsonObject()
                       .add("rank", jsonInteger(std::int64_t{rank.rank->state.rank}))
                       .add("pid", jsonInteger(rank.rank->state.process.pid))
                       .add("time", jsonNumber(rank.time))
                       .add("cause", jsonString(kindName(rank.cause.kind)))
                       .add("signal", jsonInteger(std::int64_t{rank.rank->state.death.signal}))
                       .add("text", jsonString(rank.cause.text))
                       .add("stack", jsonStrings(stackLines(rank.rank->state)))
                       .toString());
  }
  std::vector<std::string> blocked;
  for (const BlockedCollective& collective : verdict.blocked) {
    blocked.push_back(JsonObject()
                          .add("name", jsonString(collective.name))
                          .add("sequence", jsonInteger(collective.sequence))
                          .add("since", jsonNumber(collective.since))
                          .add("waiting", jsonTexts(collective.waiting))
                          .add("behind", jsonTexts(collective.behind))
                          .toString());
  }
  std::vector<std::string> lost;
  for (const LostValue& value : verdict.lost) {
    lost.push_back(JsonObject()
                       .add("tag", jsonString(value.tag))
                       .add("first_step", jsonInteger(value.value.firstNonFiniteStep))
                       .add("finite_step",
                            value.value.hasFinite ? jsonInteger(value.value.finiteStep) : "null")
                       .add("finite_value",
                            value.value.hasFinite ? jsonNumber(value.value.finiteValue) : "null")
                       .toString());
  }
  std::vector<std::string> missing;
  for (const int rank : job.missing) {
    missing.push_back(jsonInteger(std::int64_t{rank}));
  }
  return JsonObject()
      .add("job", jsonString(job.id))
      .add("world_size", jsonInteger(std::int64_t{job.worldSize}))
      .add("summary", jsonStrings(autopsyHeadline(job, verdict)))
      .add("scheduler", jsonString(verdict.scheduler))
      .add("dead", jsonArray(dead))
      .add("stopped", jsonTexts(verdict.stopped))
      .add("missing", jsonShortArray(missing))
      .add("blocked", jsonArray(blocked))
      .add("not_finite", jsonArray(lost))
      .add("ranks", jsonArray(ranks))
      .toString();
}

}  // namespace steptape::tools
