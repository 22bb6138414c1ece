// SPDX-License-Identifier: Apache-2.0
#include "writer/memory_budget.h"

#include "writer/wait_for_backend.h"

namespace steptape {

MemoryBudget::MemoryBudget(const WriterOptions& options)
    : limit_(options.queueBytes),
      overflow_(options.overflow),
      blockTimeout_(options.blockTimeout) {}

bool MemoryBudget::isOver() const {
  return captured_.load(std::memory_order_relaxed) + backlog_.load(std::memory_order_relaxed) >
         limit_;
}

bool MemoryBudget::waitForRoom() {
  if (!isOver()) {
    stalled_.store(false, std::memory_order_relaxed);
    return true;
  }
  switch (overflow_) {
    case OverflowPolicy::kDropNewest:
      return false;
    case OverflowPolicy::kDropOldest:
      // The stream that cannot write drops its oldest bytes itself.
      return true;
    case OverflowPolicy::kBlock:
      break;
  }
  if (stalled_.load(std::memory_order_relaxed)) {
    return false;
  }
  const bool room = waitForBackend([this] { return !isOver(); }, blockTimeout_);
  stalled_.store(!room, std::memory_order_relaxed);
  return room;
}

}  // namespace steptape
