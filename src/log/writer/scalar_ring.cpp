// SPDX-License-Identifier: Apache-2.0
#include "log/writer/scalar_ring.h"

#include <algorithm>
#include <cstddef>

namespace steptape::detail::log {

std::uint64_t ScalarRing::reusableUpTo() const {
  const std::uint64_t safe = safe_.load(std::memory_order_acquire);
  const std::uint64_t from = discardedFrom_.load(std::memory_order_relaxed);
  const std::uint64_t to = discardedTo_.load(std::memory_order_relaxed);
  return from <= safe && safe < to ? to : safe;
}

bool ScalarRing::hasRoomNow(std::uint64_t end) {
  knownSafe_ = reusableUpTo();
  return end - knownSafe_ <= kWords;
}

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

void ScalarRing::Appender::grow() {
  constexpr std::size_t kStep = 512;
  entries_.resize(size_ + std::max(size_, kStep));
}

std::uint64_t ScalarRing::unpackBatch(std::uint64_t index, Appender* entries) const {
  const std::uint64_t step = load(index + 1);
  const std::uint64_t ticks = load(index + 2);
  const std::uint64_t wallTime = load(index + 3);
  // While the producer discards, this entry may be half overwritten. The result is then thrown
  // away, but this must not take long.
  const std::size_t count = std::min<std::size_t>(upperHalf(load(index)), kMaxBatch);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t scalar = load(index + batchWords(i));
    entries->add({lowerHalf(scalar), valueOf(scalar), step, ticks, wallTime});
  }
  return index + batchWords(count);
}

void ScalarRing::discardOldest(std::uint64_t words, std::vector<RingEntry>* discarded) {
  const std::size_t before = discarded->size();
  Appender appender(discarded);
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (true) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t reusable = reusableUpTo();
    const std::uint64_t enough = std::min(reusable + words, tail);
    appender.cutTo(before);
    std::uint64_t end = head;
    while (end < enough) {
      end = unpack(end, &appender);
    }
    if (head_.compare_exchange_strong(head, end, std::memory_order_acq_rel)) {
      if (reusable != discardedTo_.load(std::memory_order_relaxed)) {
        discardedFrom_.store(reusable, std::memory_order_relaxed);
      }
      discardedTo_.store(end, std::memory_order_release);
      appender.finish();
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
  Appender appender(entries);
  const std::size_t before = appender.size();
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (true) {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    appender.cutTo(before);
    std::uint64_t end = head;
    bool all = true;
    while (end < tail) {
      if (load(end + 2) > lastTicks) {
        break;
      }
      if (appender.size() >= enough) {
        all = false;
        break;
      }
      end = unpack(end, &appender);
    }
    if (head_.compare_exchange_strong(head, end, std::memory_order_acq_rel)) {
      drained_ = end;
      appender.finish();
      return all;
    }
  }
}

ScalarRing::Image::Head ScalarRing::Image::headOf(const char* bytes) {
  static_assert(offsetof(ScalarRing, words_) == kHeadBytes, "the layout is a file format");
  Head head;
  std::memcpy(&head.tail, bytes + offsetof(ScalarRing, tail_), sizeof(head.tail));
  std::memcpy(&head.discardedTo, bytes + offsetof(ScalarRing, discardedTo_),
              sizeof(head.discardedTo));
  std::memcpy(&head.safe, bytes + offsetof(ScalarRing, safe_), sizeof(head.safe));
  return head;
}

void ScalarRing::Image::setHead(const Head& head, char* bytes) {
  std::memcpy(bytes + offsetof(ScalarRing, tail_), &head.tail, sizeof(head.tail));
  std::memcpy(bytes + offsetof(ScalarRing, discardedTo_), &head.discardedTo,
              sizeof(head.discardedTo));
  std::memcpy(bytes + offsetof(ScalarRing, safe_), &head.safe, sizeof(head.safe));
}

bool ScalarRing::Image::read(const char* bytes, std::uint64_t begin,
                             std::vector<RingEntry>* entries, std::uint64_t* end) {
  const Head head = headOf(bytes);
  const std::uint64_t tail = head.tail;
  begin = std::max({begin, head.safe, head.discardedTo});
  if (begin > tail || tail - begin > kWords) {
    return false;
  }
  const auto load = [bytes](std::uint64_t index) {
    std::uint64_t word;
    std::memcpy(&word, bytes + offsetOf(index), sizeof(word));
    return word;
  };
  const std::size_t before = entries->size();
  std::uint64_t at = begin;
  while (at < tail) {
    const std::uint64_t first = load(at);
    if (lowerHalf(first) != kBatch) {
      if (tail - at < kEntryWords) {
        break;
      }
      entries->push_back(
          {lowerHalf(first), valueOf(first), load(at + 1), load(at + 2), RingEntry::kNoWallTime});
      at += kEntryWords;
      continue;
    }
    const std::size_t count = upperHalf(first);
    if (count == 0 || count > kMaxBatch || tail - at < batchWords(count)) {
      break;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t scalar = load(at + batchWords(i));
      entries->push_back(
          {lowerHalf(scalar), valueOf(scalar), load(at + 1), load(at + 2), load(at + 3)});
    }
    at += batchWords(count);
  }
  if (at != tail) {
    entries->resize(before);
    return false;
  }
  *end = tail;
  return true;
}

}  // namespace steptape::detail::log
