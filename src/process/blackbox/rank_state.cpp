// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/rank_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "steptape/base/dtype.h"

#include "process/blackbox/box_file.h"
#include "process/blackbox/state_layout.h"
#include "process/blackbox/state_sections.h"

namespace steptape::detail::process {
namespace {

namespace layout = state_layout;
using layout::Word;

double doubleOf(Word word) {
  double value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

float floatOf(Word word) {
  const auto low = static_cast<std::uint32_t>(word);
  float value;
  std::memcpy(&value, &low, sizeof(value));
  return value;
}

std::int64_t signedOf(Word word) {
  return static_cast<std::int64_t>(word);
}

bool isOdd(Word sequence) {
  return sequence % 2 != 0;
}

StateHead headOf(const layout::Identity& identity) {
  StateHead head;
  head.jobId = BoxHeader::textOf(identity.jobId);
  head.launch = identity.launch;
  for (const auto& directory : identity.directories) {
    if (directory[0] != '\0') {
      head.logDirectories.push_back(BoxHeader::textOf(directory));
    }
  }
  return head;
}

/// Decodes the sections of one file.
class StateDecoder {
 public:
  StateDecoder(const StateSections& sections, RankState* state)
      : sections_(sections), state_(*state) {
    Word latest = 0;
    for (std::size_t i = 0; i < sections.entries(layout::kClock); ++i) {
      const auto clock = sections.at<layout::Clock>(layout::kClock, i);
      if (!isOdd(clock.sequence) && clock.sequence > latest) {
        latest = clock.sequence;
        clock_ = clock;
      }
    }
    counters_ = sections.at<layout::Counters>(layout::kCounters);
  }

  void decode() {
    readIdentity();
    readProgress();
    readMemory();
    readError();
    readGroups();
    readCollectives();
    readThreads();
    readValues();
    readDeath(0, &state_.death);
    readDeath(1, &state_.termination);
    readModules();
  }

 private:
  double wall(Word ticks) const {
    if (ticks == 0) {
      return 0;
    }
    const auto elapsed = static_cast<double>(signedOf(ticks - clock_.anchorTicks));
    const double seconds = doubleOf(clock_.wall) + elapsed * doubleOf(clock_.nanosPerTick) * 1e-9;
    return std::isfinite(seconds) ? seconds : 0;
  }

  std::string nameOf(Word number) const {
    if (number == 0) {
      return "";
    }
    if (number > sections_.entries(layout::kNames) || number > counters_.names) {
      return "(other names)";
    }
    return BoxHeader::textOf(
        sections_.at<layout::Name>(layout::kNames, static_cast<std::size_t>(number) - 1).text);
  }

  void readIdentity() {
    const auto identity = sections_.at<layout::Identity>(layout::kIdentity);
    state_.isIdentityUncertain = isOdd(identity.sequence);
    if (identity.sequence != 0) {
      state_.rank = static_cast<int>(signedOf(identity.rank));
      state_.worldSize = static_cast<int>(signedOf(identity.worldSize));
      state_.localRank = static_cast<int>(signedOf(identity.localRank));
    }
    state_.jobId = BoxHeader::textOf(identity.jobId);
    StateHead head = headOf(identity);
    state_.launch = head.launch;
    state_.command = BoxHeader::textOf(identity.command);
    state_.logDirectories = std::move(head.logDirectories);
  }

  void readProgress() {
    const auto progress = sections_.at<layout::Progress>(layout::kProgress);
    const auto heartbeat = sections_.at<layout::Heartbeat>(layout::kHeartbeat);
    state_.heartbeat = wall(heartbeat.ticks);
    state_.passes = heartbeat.passes;
    state_.isProgressUncertain = isOdd(progress.sequence);
    if (progress.phase <= static_cast<Word>(RunPhase::kValidation)) {
      state_.phase = static_cast<RunPhase>(progress.phase);
    }
    state_.phaseSince = wall(progress.phaseTicks);
    const std::size_t kept = progress.stepTicks.size();
    for (Word i = progress.steps - std::min<Word>(progress.steps, kept); i < progress.steps; ++i) {
      state_.stepTimes.push_back(wall(progress.stepTicks[i % kept]));
    }
    if (progress.steps > 0) {
      state_.hasStep = true;
      state_.step = signedOf(progress.step);
      state_.stepTime = state_.stepTimes.back();
    } else if (heartbeat.hasStep != 0) {
      state_.hasStep = true;
      state_.step = signedOf(heartbeat.step);
      state_.stepTime = wall(heartbeat.stepTicks);
      state_.isProgressUncertain = isOdd(heartbeat.sequence);
    }
  }

  void readMemory() {
    const auto memory = sections_.at<layout::Memory>(layout::kMemory);
    if (memory.sequence != 0) {
      state_.memoryTime = wall(memory.ticks);
      state_.residentBytes = signedOf(memory.residentBytes);
      state_.cgroupBytes = signedOf(memory.cgroupBytes);
      state_.cgroupLimit = signedOf(memory.cgroupLimit);
      state_.oomKillsAtStart = signedOf(memory.oomKillsAtStart);
      state_.oomKills = signedOf(memory.oomKills);
    }
    if (sections_.entries(layout::kCounters) > 0) {
      state_.deviceBytes = signedOf(counters_.deviceBytes);
    }
    state_.threadsWithoutRoom = counters_.threadsWithoutRoom;
    state_.valuesWithoutRoom = counters_.valuesWithoutRoom;
  }

  void readError() {
    const auto error = sections_.at<layout::Error>(layout::kError);
    state_.lastError = BoxHeader::textOf(error.text);
    state_.lastErrorTime = wall(error.ticks);
    state_.isErrorUncertain = isOdd(error.sequence);
  }

  void readGroups() {
    for (std::size_t i = 0; i < sections_.entries(layout::kGroups); ++i) {
      const auto group = sections_.at<layout::Group>(layout::kGroups, i);
      if (group.id != 0) {
        state_.groups.push_back(
            {group.id, BoxHeader::textOf(group.name), static_cast<int>(signedOf(group.rank)),
             static_cast<int>(signedOf(group.size)), group.started, group.completed,
             wall(group.lastStartTicks), wall(group.lastEndTicks), isOdd(group.sequence)});
      }
    }
  }

  void readCollectives() {
    std::vector<layout::Collective> found;
    for (std::size_t i = 0; i < sections_.entries(layout::kCollectives); ++i) {
      const auto collective = sections_.at<layout::Collective>(layout::kCollectives, i);
      if (collective.number != 0) {
        found.push_back(collective);
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const layout::Collective& a, const layout::Collective& b) {
                       return a.number < b.number;
                     });
    for (const layout::Collective& one : found) {
      RankState::Collective& shown = state_.collectives.emplace_back();
      shown.name = BoxHeader::textOf(one.name);
      if (shown.name.size() + 1 == one.name.size()) {
        shown.name += "...";  // it had no more room
      }
      shown.group = one.group;
      shown.sequence = one.groupSequence;
      shown.bytes = signedOf(one.bytes);
      shown.start = wall(one.startTicks);
      shown.since = wall(one.sinceTicks);
      shown.thread = static_cast<std::uint32_t>(one.thread);
      shown.isUncertain = isOdd(one.sequence);
      const Word type = one.typeAndPhase >> 8;
      const Word phase = one.typeAndPhase & 0xFF;
      if (type > 0 && type <= static_cast<Word>(DType::kFloat64) + 1) {
        shown.type = dtypeName(static_cast<DType>(type - 1));
      }
      if (phase <= static_cast<Word>(RankState::CollectivePhase::kFailed)) {
        shown.phase = static_cast<RankState::CollectivePhase>(phase);
      }
    }
  }

  void readThreads() {
    for (std::size_t i = 0; i < sections_.entries(layout::kThreads); ++i) {
      const auto thread = sections_.at<layout::Thread>(layout::kThreads, i);
      if (thread.tid == 0) {
        continue;
      }
      RankState::Thread& shown = state_.threads.emplace_back();
      shown.tid = static_cast<std::uint32_t>(thread.tid);
      shown.name = BoxHeader::textOf(thread.name);
      shown.depth = static_cast<std::uint32_t>(thread.depth);
      shown.operatorName = nameOf(thread.operatorName);
      shown.isUncertain = isOdd(thread.sequence);
      for (std::size_t j = 0; j < std::min<Word>(thread.depth, thread.open.size()); ++j) {
        shown.zones.push_back({nameOf(thread.open[j].name), wall(thread.open[j].startTicks)});
      }
      for (const layout::Thread::Completed& zone : thread.completed) {
        // An entry that is being overwritten has a new start and still the end of an earlier zone.
        if (zone.name != 0 && zone.endTicks >= zone.startTicks) {
          state_.completed.push_back(
              {nameOf(zone.name), shown.tid, wall(zone.startTicks), wall(zone.endTicks)});
        }
      }
    }
    std::stable_sort(state_.completed.begin(), state_.completed.end(),
                     [](const auto& a, const auto& b) { return a.end < b.end; });
  }

  void readValues() {
    for (std::size_t i = 0; i < sections_.entries(layout::kValues); ++i) {
      const auto value = sections_.at<layout::Value>(layout::kValues, i);
      if (value.tag[0] == '\0' || (value.flags == 0 && value.wall == 0)) {
        continue;  // it has no tag, or the tag has no value yet
      }
      RankState::LastValue& shown = state_.values.emplace_back();
      shown.tag = BoxHeader::textOf(value.tag);
      shown.directory = BoxHeader::textOf(value.directory);
      shown.step = signedOf(value.step);
      shown.value = floatOf(value.value);
      shown.time = std::isfinite(doubleOf(value.wall)) ? doubleOf(value.wall) : 0;
      shown.hasFinite = (value.flags & layout::kHasFinite) != 0;
      shown.finiteStep = signedOf(value.finiteStep);
      shown.finiteValue = floatOf(value.finiteValue);
      shown.hasNonFinite = (value.flags & layout::kHasNonFinite) != 0;
      shown.firstNonFiniteStep = signedOf(value.firstNonFiniteStep);
      shown.isUncertain = isOdd(value.sequence);
    }
  }

  void readDeath(std::size_t index, RankState::Death* shown) const {
    const auto death = sections_.at<layout::Death>(layout::kDeaths, index);
    shown->signal = static_cast<int>(signedOf(death.signal));
    shown->code = static_cast<int>(signedOf(death.code));
    shown->address = death.address;
    shown->stackPointer = death.stackPointer;
    shown->senderPid = static_cast<std::uint32_t>(death.senderPid);
    shown->senderUid = static_cast<std::uint32_t>(death.senderUid);
    shown->senderName = BoxHeader::textOf(death.senderName);
    shown->tid = static_cast<std::uint32_t>(death.tid);
    shown->time = wall(death.ticks);
    shown->isUncertain = isOdd(death.sequence);
    const std::size_t count = std::min<Word>(death.frameCount, death.frames.size());
    shown->frames.assign(death.frames.begin(),
                         death.frames.begin() + static_cast<std::ptrdiff_t>(count));
  }

  void readModules() {
    for (std::size_t i = 0; i < sections_.entries(layout::kModules); ++i) {
      const auto module = sections_.at<layout::Module>(layout::kModules, i);
      if (module.end != 0 && !isOdd(module.sequence)) {
        state_.modules.push_back(
            {module.begin, module.end, module.offset, BoxHeader::textOf(module.path)});
      }
    }
    std::stable_sort(state_.modules.begin(), state_.modules.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
  }

  const StateSections& sections_;
  RankState& state_;
  layout::Clock clock_{};
  layout::Counters counters_{};
};

}  // namespace

const char* runPhaseName(RunPhase phase) noexcept {
  switch (phase) {
    case RunPhase::kUnknown:
      return "";
    case RunPhase::kSetup:
      return "setup";
    case RunPhase::kLoad:
      return "load";
    case RunPhase::kForward:
      return "forward";
    case RunPhase::kBackward:
      return "backward";
    case RunPhase::kStep:
      return "step";
    case RunPhase::kCheckpoint:
      return "checkpoint";
    case RunPhase::kValidation:
      return "validation";
  }
  return "";
}

StateHead readStateHead(const BoxName& box) {
  constexpr std::size_t kHead = 16384;
  std::string bytes;
  if (!readBoxFile(box, kStatePart, kHead, &bytes).ok()) {
    return {};
  }
  StateSections sections(bytes, std::numeric_limits<std::size_t>::max());
  return sections.find().ok() ? headOf(sections.at<layout::Identity>(layout::kIdentity))
                              : StateHead();
}

Status decodeRankState(std::string_view bytes, RankState* state) {
  *state = {};
  Status status = decodeBoxHeader(bytes, kStatePart, &state->process);
  if (!status.ok()) {
    return status;
  }
  StateSections sections(bytes);
  status = sections.find();
  if (status.ok()) {
    StateDecoder(sections, state).decode();
  }
  return status;
}

}  // namespace steptape::detail::process
