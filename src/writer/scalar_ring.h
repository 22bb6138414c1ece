// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace steptape {

struct CapturedValue;

/// What a caller leaves in its ring: 32 bytes, two to a cache line.
///
/// Either a scalar (`series` is not 0) or the address of a captured value that the slot owns.
struct Slot {
  /// An impossible wall time: derive it from `ticks`.
  static constexpr std::uint64_t kNoWallTime = ~std::uint64_t{0};

  std::uint32_t series = 0;  ///< ScalarSeries::id; 0: `payload` is a CapturedValue*.
  float value = 0;
  std::uint64_t payload = 0;  ///< The step, or the address.
  std::uint64_t ticks = 0;    ///< readTicks() of the call; orders slots of several rings.
  std::uint64_t wallTime = kNoWallTime;  ///< Bits of a double that the caller gave.

  static Slot scalar(std::uint32_t series, float value, std::int64_t step, std::uint64_t ticks,
                     std::uint64_t wallTime) {
    return {series, value, static_cast<std::uint64_t>(step), ticks, wallTime};
  }
  static Slot captured(CapturedValue* captured, std::uint64_t ticks) {
    return {0, 0, reinterpret_cast<std::uintptr_t>(captured), ticks, kNoWallTime};
  }

  bool isScalar() const { return series != 0; }
  std::int64_t step() const { return static_cast<std::int64_t>(payload); }
  CapturedValue* capturedValue() const { return reinterpret_cast<CapturedValue*>(payload); }
};
static_assert(sizeof(Slot) == 32, "a slot is half a cache line");

/// A queue from one producing thread to the backend.
///
/// The producer may also discard the oldest slots, so the consumer reads optimistically: it copies,
/// then claims what it copied by moving `head_`, and starts over if the producer was first. The
/// slots are relaxed atomic words for that reason; on all supported machines they cost what plain
/// ones do.
///
/// @threads push(), publish(), discardOldest() and full() by the producer only, drain() by one
///          consumer only.
class ScalarRing {
 public:
  static constexpr std::uint64_t kSlots = 8192;

  /// Producer: true if there is no room for one more slot.
  bool full() {
    if (next_ - knownHead_ < kSlots) {
      return false;
    }
    knownHead_ = head_.load(std::memory_order_acquire);
    return next_ - knownHead_ >= kSlots;
  }

  /// Producer: stores a slot that the consumer will see after publish(). REQUIRES: !full()
  void push(const Slot& slot) {
    std::uint64_t words[4];
    std::memcpy(words, &slot, sizeof(slot));
    std::atomic<std::uint64_t>* to = words_[next_ % kSlots];
    for (int i = 0; i < 4; ++i) {
      to[i].store(words[i], std::memory_order_relaxed);
    }
    ++next_;
  }

  /// Producer: makes everything pushed so far visible.
  void publish() { tail_.store(next_, std::memory_order_release); }

  /// Producer: takes up to `count` of the oldest slots out of the ring and appends them to
  /// `*discarded`, whose captured values the caller then owns.
  void discardOldest(std::uint64_t count, std::vector<Slot>* discarded);

  /// Consumer: appends the published slots whose ticks are not past `lastTicks` to `*slots`, up to
  /// the first one that is.
  void drain(std::uint64_t lastTicks, std::vector<Slot>* slots);

  /// Consumer: how many slots are published and not drained.
  std::uint64_t waiting() const {
    return tail_.load(std::memory_order_relaxed) - head_.load(std::memory_order_relaxed);
  }

  /// Either: how far the consumer has come; changes whenever room was made.
  std::uint64_t head() const { return head_.load(std::memory_order_acquire); }

 private:
  Slot load(std::uint64_t index) const {
    const std::atomic<std::uint64_t>* from = words_[index % kSlots];
    std::uint64_t words[4];
    for (int i = 0; i < 4; ++i) {
      words[i] = from[i].load(std::memory_order_relaxed);
    }
    Slot slot;
    std::memcpy(&slot, words, sizeof(slot));
    return slot;
  }

  // The producer's line, the consumer's line, then the slots.
  alignas(64) std::uint64_t next_ = 0;
  std::uint64_t knownHead_ = 0;
  std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> words_[kSlots][4];
};

}  // namespace steptape
