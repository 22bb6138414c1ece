// SPDX-License-Identifier: Apache-2.0
#include "writer/scalar_ring.h"

#include <algorithm>

namespace steptape {
namespace {

std::uint32_t seriesOf(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}

std::uint32_t upperHalf(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

float valueOf(std::uint64_t word) {
  const std::uint32_t bits = upperHalf(word);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace

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

/// Appends the entry at `index`, one for each scalar of a batch.
/// @return the index of the next entry.
std::uint64_t ScalarRing::unpack(std::uint64_t index, std::uint64_t ticks,
                                 std::vector<RingEntry>* entries) const {
  const std::uint64_t first = load(index);
  const std::uint64_t payload = load(index + 1);
  if (seriesOf(first) != kBatch) {
    entries->push_back({seriesOf(first), valueOf(first), payload, ticks, RingEntry::kNoWallTime});
    return index + kEntryWords;
  }
  const std::uint64_t wallTime = load(index + 3);
  // While the producer discards, this may be an entry half overwritten: whatever is made of it is
  // thrown away, so it only must not take long.
  const std::size_t count = std::min<std::size_t>(upperHalf(first), kMaxBatch);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t scalar = load(index + batchWords(i));
    entries->push_back({seriesOf(scalar), valueOf(scalar), payload, ticks, wallTime});
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
      end = unpack(end, load(end + 2), discarded);
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
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (true) {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    entries->resize(before);
    std::uint64_t end = head;
    bool all = true;
    while (end < tail) {
      const std::uint64_t ticks = load(end + 2);
      if (ticks > lastTicks) {
        break;
      }
      if (entries->size() >= enough) {
        all = false;
        break;
      }
      end = unpack(end, ticks, entries);
    }
    if (head_.compare_exchange_strong(head, end, std::memory_order_acq_rel)) {
      return all;
    }
  }
}

}  // namespace steptape
