// SPDX-License-Identifier: Apache-2.0
#include "writer/scalar_ring.h"

#include <algorithm>

namespace steptape::detail {
void ScalarRing::pushBatch(std::int64_t step, std::uint64_t ticks, std::uint64_t wallTime,
                           const BatchedScalar* scalars, std::size_t count) {
  std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  store(tail++, kBatch | std::uint64_t{count} << 32);
  store(tail++, static_cast<std::uint64_t>(step));
  store(tail++, ticks);
  store(tail++, wallTime);
  for (std::size_t i = 0; i < count; ++i) {
    store(tail++, packed(scalars[i].series, scalars[i].value));
  }
  tail_.store(tail, std::memory_order_release);
}

std::uint64_t ScalarRing::unpackBatch(std::uint64_t index, std::vector<RingEntry>* entries) const {
  const std::uint64_t step = load(index + 1);
  const std::uint64_t ticks = load(index + 2);
  const std::uint64_t wallTime = load(index + 3);
  // While the producer discards, this entry may be half overwritten. The result is then thrown
  // away, but this must not take long.
  const std::size_t count = std::min<std::size_t>(upperHalf(load(index)), kMaxBatch);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t scalar = load(index + batchWords(i));
    entries->push_back({lowerHalf(scalar), valueOf(scalar), step, ticks, wallTime});
  }
  return index + batchWords(count);
}

void ScalarRing::discardOldest(std::uint64_t words, std::vector<RingEntry>* discarded) {
  const std::size_t before = discarded->size();
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (true) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t enough = std::min(head + words, tail);
    discarded->resize(before);
    std::uint64_t end = head;
    while (end < enough) {
      end = unpack(end, discarded);
    }
    if (head_.compare_exchange_strong(head, end, std::memory_order_acq_rel)) {
      knownHead_ = end;
      return;
    }
  }
}

bool ScalarRing::drain(std::uint64_t lastTicks, std::size_t enough,
                       std::vector<RingEntry>* entries) {
  const std::size_t before = entries->size();
  try {
    return tryDrain(lastTicks, enough, entries);
  } catch (...) {
    entries->resize(before);  // the ring still holds them
    throw;
  }
}

bool ScalarRing::tryDrain(std::uint64_t lastTicks, std::size_t enough,
                          std::vector<RingEntry>* entries) {
  const std::size_t before = entries->size();
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (true) {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    entries->resize(before);
    std::uint64_t end = head;
    bool all = true;
    while (end < tail) {
      if (load(end + 2) > lastTicks) {
        break;
      }
      if (entries->size() >= enough) {
        all = false;
        break;
      }
      end = unpack(end, entries);
    }
    if (head_.compare_exchange_strong(head, end, std::memory_order_acq_rel)) {
      return all;
    }
  }
}

}  // namespace steptape::detail
