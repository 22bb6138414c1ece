// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "steptape/span/span_record.h"

namespace steptape::detail {

/// A bounded queue of records from one thread to another. When full it drops what comes and counts.
///
/// @threads push(), countDropped() and reset() on the recording thread, drainTo() on one other.
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
    // The consumer has read the slots ahead: fetching them back takes as long as all the rest.
    __builtin_prefetch(&slots_[(head + kPrefetch) & (capacity_ - 1)], /*for writing*/ 1);
    head_.store(head + 1, std::memory_order_release);
  }

  void countDropped() noexcept {
    // One writer: a load and a store are enough, and cheaper than a locked increment.
    dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// How many records were taken since the last reset(). On any thread.
  std::uint64_t pushed() const noexcept { return head_.load(std::memory_order_relaxed); }

  /// Empties the ring. REQUIRES: no other thread drains it now.
  void reset() noexcept {
    head_.store(0, std::memory_order_relaxed);
    tail_.store(0, std::memory_order_relaxed);
    knownTail_ = 0;
    dropped_.store(0, std::memory_order_relaxed);
    reportedDrops_ = 0;
  }

  /// Moves what is there to `records`, replacing what it held.
  ///
  /// @return how many records were dropped since the last call.
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

  const std::unique_ptr<SpanRecord[]> slots_;  // left uninitialized: pages are touched when used
  const std::size_t capacity_;
  // The two sides write to cache lines of their own.
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t knownTail_ = 0;
  std::atomic<std::uint64_t> dropped_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t reportedDrops_ = 0;
};

}  // namespace steptape::detail
