// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "steptape/base/export.h"

#include "process/blackbox/state_layout.h"
#include "process/blackbox/state_words.h"

// The open zones of each thread in the state of this process.
//
// Inline, and without checks that a zone does not need: zones are everywhere in a program.

namespace steptape::detail::process {

/// The calling thread's part of the state.
struct ThreadState {
  state_layout::Thread* slot;  ///< Null: it has none yet, or there is no room.
  std::uint64_t sequence;      ///< The number of the slot's sequence lock.
  std::uint64_t completed;
  std::uint32_t depth;
  bool isRefused;  ///< There was no room.
};

STEPTAPE_EXPORT extern __thread ThreadState threadState __attribute__((tls_model("initial-exec")));

/// Gives the calling thread a slot, and a stack for signal handlers.
/// @return false if there is no state, or no room in it.
STEPTAPE_EXPORT bool joinState() noexcept;

/// Returns the operating system's number of the calling thread.
STEPTAPE_EXPORT std::uint32_t currentTid() noexcept;

/// Keeps the name of the calling thread for readers, if it has a slot: its first 15 bytes.
STEPTAPE_EXPORT void nameThreadInState(const char* name) noexcept;

/// Notes that a zone begins on this thread.
/// @return whether endKeptZone() must follow.
inline bool beginKeptZone(std::uint16_t name, std::uint64_t ticks) noexcept {
  ThreadState& own = threadState;
  if (own.slot == nullptr && (own.isRefused || !joinState())) {
    return false;
  }
  state_layout::Thread& slot = *own.slot;
  storeOdd(slot.sequence, own.sequence + 1);
  if (own.depth < slot.open.size()) {
    storeWord(slot.open[own.depth].name, name);
    storeWord(slot.open[own.depth].startTicks, ticks);
  }
  storeWord(slot.depth, ++own.depth);
  own.sequence += 2;
  __atomic_store_n(&slot.sequence, own.sequence, __ATOMIC_RELEASE);
  return true;
}

/// Notes that the innermost zone ends.
inline void endKeptZone(std::uint64_t ticks) noexcept {
  ThreadState& own = threadState;
  if (own.slot == nullptr || own.depth == 0) {
    return;  // the zone began before fork(), in the parent
  }
  state_layout::Thread& slot = *own.slot;
  storeOdd(slot.sequence, own.sequence + 1);
  storeWord(slot.depth, --own.depth);
  if (own.depth < slot.open.size()) {
    const state_layout::Thread::Open& open = slot.open[own.depth];
    state_layout::Thread::Completed& completed =
        slot.completed[own.completed % slot.completed.size()];
    storeWord(completed.name, loadWord(open.name));
    storeWord(completed.startTicks, loadWord(open.startTicks));
    storeWord(completed.endTicks, ticks);
    ++own.completed;
  }
  own.sequence += 2;
  __atomic_store_n(&slot.sequence, own.sequence, __ATOMIC_RELEASE);
}

/// Notes the innermost operator on this thread; 0: none.
inline void keepOperator(std::uint16_t name) noexcept {
  if (state_layout::Thread* const slot = threadState.slot) {
    storeWord(slot->operatorName, name);
  }
}

}  // namespace steptape::detail::process
