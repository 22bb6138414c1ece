// SPDX-License-Identifier: Apache-2.0
#include "writer/scalar_ring.h"

#include <algorithm>

namespace steptape {

void ScalarRing::discardOldest(std::uint64_t count, std::vector<Slot>* discarded) {
  const std::size_t before = discarded->size();
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (true) {
    const std::uint64_t published = tail_.load(std::memory_order_relaxed);
    const std::uint64_t end = std::min(head + count, published);
    discarded->resize(before);
    for (std::uint64_t i = head; i < end; ++i) {
      discarded->push_back(load(i));
    }
    if (head_.compare_exchange_strong(head, end, std::memory_order_acq_rel)) {
      knownHead_ = end;
      return;
    }
  }
}

void ScalarRing::drain(std::uint64_t lastTicks, std::vector<Slot>* slots) {
  const std::size_t before = slots->size();
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (true) {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    slots->resize(before);
    std::uint64_t end = head;
    for (; end != tail; ++end) {
      const Slot slot = load(end);
      if (slot.ticks > lastTicks) {
        break;
      }
      slots->push_back(slot);
    }
    if (head_.compare_exchange_strong(head, end, std::memory_order_acq_rel)) {
      return;
    }
  }
}

}  // namespace steptape
