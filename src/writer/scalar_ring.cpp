// SPDX-License-Identifier: Apache-2.0
#include "writer/scalar_ring.h"

#include <algorithm>
#include <array>

namespace steptape {

void ScalarRing::pushBatch(std::int64_t step, std::uint64_t ticks, std::uint64_t wallTime,
                           const BatchedScalar* scalars, std::size_t count) {
  Slot head = Slot::scalar(kBatch, 0, step, ticks, wallTime);
  const auto size = static_cast<std::uint32_t>(count);
  std::memcpy(&head.value, &size, sizeof(size));
  std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  store(tail++, &head);
  for (std::size_t i = 0; i < count; i += kPerSlot) {
    store(tail++, scalars + i);
  }
  tail_.store(tail, std::memory_order_release);
}

std::uint64_t ScalarRing::unpackBatch(std::uint64_t index, const Slot& head,
                                      std::vector<Slot>* slots) const {
  ++index;
  std::uint32_t size;
  std::memcpy(&size, &head.value, sizeof(size));
  // While the producer discards, this may be a slot half overwritten: whatever is made of it is
  // thrown away, so it only must not take long.
  const std::size_t count = std::min<std::size_t>(size, kMaxBatch);
  for (std::size_t done = 0; done < count; done += kPerSlot) {
    const auto scalars = load<std::array<BatchedScalar, kPerSlot>>(index++);
    for (std::size_t i = 0; i < std::min(kPerSlot, count - done); ++i) {
      slots->push_back(Slot::scalar(scalars[i].series, scalars[i].value, head.step(), head.ticks,
                                    head.wallTime));
    }
  }
  return index;
}

void ScalarRing::discardOldest(std::uint64_t count, std::vector<Slot>* discarded) {
  const std::size_t before = discarded->size();
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (true) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t enough = std::min(head + count, tail);
    discarded->resize(before);
    std::uint64_t end = head;
    while (end < enough) {
      end = unpack(end, load<Slot>(end), discarded);
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
    while (end < tail) {
      const Slot slot = load<Slot>(end);
      if (slot.ticks > lastTicks) {
        break;
      }
      end = unpack(end, slot, slots);
    }
    if (head_.compare_exchange_strong(head, end, std::memory_order_acq_rel)) {
      return;
    }
  }
}

}  // namespace steptape
