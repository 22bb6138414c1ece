// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/collective_notes.h"

#include "steptape/base/clock.h"

#include "process/blackbox/state_words.h"
#include "process/blackbox/thread_state.h"

namespace steptape::detail::process {

std::uint32_t CollectiveNotes::addGroup(std::uint64_t id, std::string_view name, int rank,
                                        int size) noexcept {
  const auto fill = [&](state_layout::Group& group) {
    storeWord(group.id, id);
    storeSigned(group.rank, rank);
    storeSigned(group.size, size);
    storeText(group.name, name);
  };
  for (std::uint32_t i = 0; i < state_.groups.size(); ++i) {
    state_layout::Group& group = state_.groups[i];
    if (loadWord(group.id) != 0) {
      continue;
    }
    const SharedStore store(group.sequence);
    if (store && loadWord(group.id) == 0) {
      fill(group);
      return i;
    }
  }
  return kNoGroup;
}

void CollectiveNotes::removeGroup(std::uint32_t group) noexcept {
  if (group >= state_.groups.size()) {
    return;
  }
  state_layout::Group& entry = state_.groups[group];
  if (const SharedStore store{entry.sequence}) {
    for (state_layout::Word* const word : {&entry.id, &entry.started, &entry.completed,
                                           &entry.lastStartTicks, &entry.lastEndTicks}) {
      storeWord(*word, 0);
    }
  }
}

std::uint64_t CollectiveNotes::start(std::uint32_t group, std::uint64_t sequence,
                                     std::string_view name, std::int64_t bytes, const DType* type,
                                     Phase phase) noexcept {
  const std::uint64_t number =
      __atomic_add_fetch(&state_.counters.collectives, 1, __ATOMIC_RELAXED);
  const std::uint64_t now = readTicks();
  std::uint64_t groupId = 0;
  if (group < state_.groups.size()) {
    state_layout::Group& in = state_.groups[group];
    groupId = loadWord(in.id);
    if (const SharedStore store{in.sequence}) {
      storeWord(in.started, sequence);
      storeWord(in.lastStartTicks, now);
    }
  }
  state_layout::Collective& entry = state_.collectives[(number - 1) % state_.collectives.size()];
  if (const SharedStore store{entry.sequence}) {
    storeWord(entry.number, number);
    storeWord(entry.group, groupId);
    storeWord(entry.groupSequence, sequence);
    storeSigned(entry.bytes, bytes);
    storeWord(entry.typeAndPhase,
              (type == nullptr ? 0 : (static_cast<std::uint64_t>(*type) + 1) << 8) |
                  static_cast<std::uint64_t>(phase));
    storeWord(entry.startTicks, now);
    storeWord(entry.sinceTicks, now);
    storeWord(entry.thread, currentTid());
    storeText(entry.name, name);
  }
  return number;
}

void CollectiveNotes::setPhase(std::uint64_t number, Phase phase) noexcept {
  state_layout::Collective& entry = state_.collectives[(number - 1) % state_.collectives.size()];
  const std::uint64_t now = readTicks();
  // The slot may belong to a later collective by now.
  if (const SharedStore store{entry.sequence}; store && loadWord(entry.number) == number) {
    constexpr std::uint64_t kPhaseBits = 0xFF;
    storeWord(entry.typeAndPhase,
              (loadWord(entry.typeAndPhase) & ~kPhaseBits) | static_cast<std::uint64_t>(phase));
    storeWord(entry.sinceTicks, now);
  }
}

void CollectiveNotes::end(std::uint32_t group, std::uint64_t number, bool hasSucceeded) noexcept {
  setPhase(number, hasSucceeded ? Phase::kCompleted : Phase::kFailed);
  if (group < state_.groups.size()) {
    state_layout::Group& in = state_.groups[group];
    if (const SharedStore store{in.sequence}) {
      storeWord(in.completed, loadWord(in.completed) + 1);
      storeWord(in.lastEndTicks, readTicks());
    }
  }
}

}  // namespace steptape::detail::process
