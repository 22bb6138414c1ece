// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "steptape/process/zone.h"

namespace steptape::detail::process {

/// A bounded queue of records between two threads. A full queue drops new records and counts them.
///
/// @threads push(), countDropped() and reset() on the recording thread, drainTo() on one other
///   thread.
class SpanRing {
 public:
  /// @param capacity A power of two.
  explicit SpanRing(std::size_t capacity) : slots_(new SpanRecord[capacity]), capacity_(capacity) {}

  std::size_t capacity() const { return capacity_; }

  void push(const SpanRecord& record) noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - knownTail_ == capacity_) {
      knownTail_ = tail_.load(std::memory_order_acquire);
      if (head - knownTail_ == capacity_) {
        countDropped();
        return;
      }
    }
    slots_[head & (capacity_ - 1)] = record;
    // The consumer has read the next slots, so they are in its cache: fetching them takes as long
    // as all the other work.
    __builtin_prefetch(&slots_[(head + kPrefetch) & (capacity_ - 1)], /*for writing*/ 1);
    head_.store(head + 1, std::memory_order_release);
  }

  void countDropped() noexcept {
    // There is one writer, so a load and a store are sufficient and cheaper than a locked
    // increment.
    dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// Returns the number of records pushed since the last reset(), on any thread.
  std::uint64_t pushed() const noexcept { return head_.load(std::memory_order_relaxed); }

  /// Empties the ring. REQUIRES: no other thread is draining it.
  void reset() noexcept {
    head_.store(0, std::memory_order_relaxed);
    tail_.store(0, std::memory_order_relaxed);
    knownTail_ = 0;
    dropped_.store(0, std::memory_order_relaxed);
    reportedDrops_ = 0;
  }

  /// Moves the records to `records`, replacing its content.
  ///
  /// @return the number of records dropped since the last call.
  std::uint64_t drainTo(std::vector<SpanRecord>& records) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    records.resize(head - tail);
    const std::size_t first = tail & (capacity_ - 1);
    const std::size_t untilWrap = std::min<std::size_t>(records.size(), capacity_ - first);
    std::copy_n(slots_.get() + first, untilWrap, records.data());
    std::copy_n(slots_.get(), records.size() - untilWrap, records.data() + untilWrap);
    tail_.store(head, std::memory_order_release);
    const std::uint64_t dropped = dropped_.load(std::memory_order_relaxed);
    const std::uint64_t news = dropped - reportedDrops_;
    reportedDrops_ = dropped;
    return news;
  }

 private:
  static constexpr std::size_t kPrefetch = 8;

  const std::unique_ptr<SpanRecord[]> slots_;  // uninitialized: pages are touched only when used
  const std::size_t capacity_;
  // The two threads write to separate cache lines.
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t knownTail_ = 0;
  std::atomic<std::uint64_t> dropped_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t reportedDrops_ = 0;
};

}  // namespace steptape::detail::process
