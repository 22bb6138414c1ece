// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "steptape/writer/step_batch.h"

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

using detail::BatchedScalar;  // four to a slot

/// A queue from one producing thread to the backend.
///
/// A batch takes one slot for what its scalars share and a quarter of a slot for each: the fewer
/// cache lines travel between the cores, the less a call costs.
///
/// The producer may also discard the oldest slots, so the consumer reads optimistically: it copies,
/// then claims what it copied by moving `head_`, and starts over if the producer was first. The
/// slots are relaxed atomic words for that reason; on all supported machines they cost what plain
/// ones do.
///
/// @threads hasRoom(), push(), pushBatch() and discardOldest() by the producer only, drain() by one
///          consumer only.
class ScalarRing {
 public:
  static constexpr std::uint64_t kSlots = 8192;
  static constexpr std::size_t kMaxBatch = 64;

  /// Producer: true if a scalar, or a batch of `batch` of them, fits.
  bool hasRoom(std::size_t batch = 0) {
    const std::uint64_t needed = 1 + slotsFor(batch);
    if (tail_.load(std::memory_order_relaxed) - knownHead_ + needed <= kSlots) {
      return true;
    }
    knownHead_ = head_.load(std::memory_order_acquire);
    return tail_.load(std::memory_order_relaxed) - knownHead_ + needed <= kSlots;
  }

  /// Producer: hands a slot to the consumer. REQUIRES: hasRoom()
  void push(const Slot& slot) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    store(tail, &slot);
    tail_.store(tail + 1, std::memory_order_release);
  }

  /// Producer: hands over `count` scalars, at once and with what they share.
  /// REQUIRES: hasRoom(count), 0 < count <= kMaxBatch, and `scalars` is readable up to a multiple
  /// of 4.
  void pushBatch(std::int64_t step, std::uint64_t ticks, std::uint64_t wallTime,
                 const BatchedScalar* scalars, std::size_t count);

  /// Producer: takes the oldest slots, about `count` of them, out of the ring and appends what they
  /// held to `*discarded`, whose captured values the caller then owns.
  void discardOldest(std::uint64_t count, std::vector<Slot>* discarded);

  /// Consumer: appends what the slots hold whose ticks are not past `lastTicks` to `*slots`, up to
  /// the first one that is; the scalars of a batch come as slots of their own.
  void drain(std::uint64_t lastTicks, std::vector<Slot>* slots);

  /// Consumer: how many slots are waiting.
  std::uint64_t waiting() const {
    return tail_.load(std::memory_order_relaxed) - head_.load(std::memory_order_relaxed);
  }

  /// Either: how far the consumer has come; changes whenever room was made.
  std::uint64_t head() const { return head_.load(std::memory_order_acquire); }

 private:
  // Slot::series of a batch's first slot, whose `value` holds the count's bits.
  static constexpr std::uint32_t kBatch = ~std::uint32_t{0};
  static constexpr std::size_t kPerSlot = sizeof(Slot) / sizeof(BatchedScalar);

  static constexpr std::uint64_t slotsFor(std::size_t batch) {
    return (batch + kPerSlot - 1) / kPerSlot;
  }
  void store(std::uint64_t index, const void* from) {
    std::uint64_t words[4];
    std::memcpy(words, from, sizeof(words));
    std::atomic<std::uint64_t>* const to = words_[index % kSlots];
    to[0].store(words[0], std::memory_order_relaxed);
    to[1].store(words[1], std::memory_order_relaxed);
    to[2].store(words[2], std::memory_order_relaxed);
    to[3].store(words[3], std::memory_order_relaxed);
  }
  template <typename T>
  T load(std::uint64_t index) const {
    static_assert(sizeof(T) == sizeof(Slot));
    const std::atomic<std::uint64_t>* const from = words_[index % kSlots];
    const std::uint64_t words[4] = {
        from[0].load(std::memory_order_relaxed), from[1].load(std::memory_order_relaxed),
        from[2].load(std::memory_order_relaxed), from[3].load(std::memory_order_relaxed)};
    T value;
    std::memcpy(&value, words, sizeof(value));
    return value;
  }
  /// Appends what the slot at `index` holds. @return the index of the next one.
  std::uint64_t unpack(std::uint64_t index, const Slot& slot, std::vector<Slot>* slots) const {
    if (slot.series == kBatch) {
      return unpackBatch(index, slot, slots);
    }
    slots->push_back(slot);
    return index + 1;
  }
  std::uint64_t unpackBatch(std::uint64_t index, const Slot& head, std::vector<Slot>* slots) const;

  // The producer's line, the consumer's line, then the slots.
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t knownHead_ = 0;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> words_[kSlots][4];
};

}  // namespace steptape
