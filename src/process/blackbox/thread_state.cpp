// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/thread_state.h"

#include <sys/prctl.h>

#include "base/mutex.h"
#include "base/thread_id.h"
#include "process/blackbox/crash_handler.h"
#include "process/blackbox/state_page.h"

namespace steptape::detail::process {

__thread ThreadState threadState __attribute__((tls_model("initial-exec"))) = {};

namespace {

thread_local bool threadIsLeaving = false;

/// Frees the slot when the thread ends.
struct SlotOwner {
  SignalStack stack;

  ~SlotOwner() {
    threadIsLeaving = true;
    if (state_layout::Thread* const slot = threadState.slot) {
      threadState = {};
      {
        const OwnStore store(slot->sequence);
        storeWord(slot->tid, 0);
      }
      __atomic_store_n(&slot->claimed, std::uint64_t{0}, __ATOMIC_RELEASE);
    }
  }
};

SlotOwner& ownerOfThread() {
  thread_local SlotOwner owner;
  return owner;
}

}  // namespace

std::uint32_t currentTid() noexcept {
  const state_layout::Thread* const slot = threadState.slot;
  return static_cast<std::uint32_t>(slot != nullptr ? loadWord(slot->tid) : base::threadId());
}

bool joinState() noexcept {
  StatePage* const page = StatePage::current();
  if (threadState.slot != nullptr || page == nullptr || threadIsLeaving || threadState.isRefused) {
    return threadState.slot != nullptr;
  }
  const std::uint64_t tid = base::threadId();
  SlotOwner& owner = ownerOfThread();
  owner.stack.install();
  for (state_layout::Thread& slot : page->state().threads) {
    std::uint64_t free = 0;
    if (!__atomic_compare_exchange_n(&slot.claimed, &free, tid, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED)) {
      continue;
    }
    char name[16] = {};
    ::prctl(PR_GET_NAME, name);
    {
      const OwnStore store(slot.sequence);
      storeWord(slot.tid, tid);
      storeWord(slot.depth, 0);
      storeWord(slot.operatorName, 0);
      for (state_layout::Thread::Completed& completed : slot.completed) {
        storeWord(completed.name, 0);
      }
      storeText(slot.name, name);
    }
    threadState = {&slot, loadWord(slot.sequence), 0, 0, false};
    return true;
  }
  threadState.isRefused = true;
  __atomic_add_fetch(&page->state().counters.threadsWithoutRoom, 1, __ATOMIC_RELAXED);
  return false;
}

void nameThreadInState(const char* name) noexcept {
  if (state_layout::Thread* const slot = threadState.slot) {
    storeOdd(slot->sequence, threadState.sequence + 1);
    storeText(slot->name, name);
    threadState.sequence += 2;
    __atomic_store_n(&slot->sequence, threadState.sequence, __ATOMIC_RELEASE);
  }
}

}  // namespace steptape::detail::process
