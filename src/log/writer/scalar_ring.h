// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "steptape/log/scalar.h"

namespace steptape::detail::log {

struct CapturedValue;

/// An entry of a ring for the backend: a scalar, or a captured value that the backend then owns.
struct RingEntry {
  /// An impossible wall time, which means: derive it from `ticks`.
  static constexpr std::uint64_t kNoWallTime = ~std::uint64_t{0};

  /// Returns the double with the bits `wallTime`.
  static double wallSeconds(std::uint64_t wallTime) {
    double seconds;
    std::memcpy(&seconds, &wallTime, sizeof(seconds));
    return seconds;
  }

  std::uint32_t series = 0;  ///< ScalarSeries::id; 0: `payload` is a CapturedValue*.
  float value = 0;
  std::uint64_t payload = 0;  ///< The step, or the address.
  std::uint64_t ticks = 0;    ///< readTicks() at the call; orders entries of several rings.
  std::uint64_t wallTime = kNoWallTime;  ///< Bits of a double, if the caller gave a wall time.

  bool isScalar() const { return series != 0; }
  std::int64_t step() const { return static_cast<std::int64_t>(payload); }
  CapturedValue* capturedValue() const { return reinterpret_cast<CapturedValue*>(payload); }
};

/// A queue from one producing thread to the backend. Entries have two or more 64-bit words:
///
///     scalar          series and value | step | ticks
///     batch           kBatch and count | step | ticks | wall time | series and value | ...
///     captured value  0                | address | ticks
///
/// The fewer cache lines move between the cores, the less a call costs.
///
/// The producer may also discard the oldest entries, so the consumer reads optimistically: it
/// copies entries, then claims them by moving `head_`, and starts over if the producer was faster.
/// The words are therefore relaxed atomics, which cost as much as plain words on all supported
/// machines.
///
/// Entries that the consumer has taken keep their place until secure(): if the process dies before,
/// they can be read from the ring, which may lie in memory that outlives the process. The bytes of
/// a ring are therefore a file format.
///
/// @threads hasRoom(), push...() and discardOldest() by the producer only, drain() and secure() by
///          one consumer only.
/// @source  docs/black_box_format.md, "Rings"
class ScalarRing {
 public:
  static constexpr std::uint64_t kWords = 32768;
  static constexpr std::size_t kMaxBatch = 64;
  static constexpr std::size_t kEntryWords = 3;  ///< Of a scalar or a captured value.
  static constexpr std::size_t batchWords(std::size_t count) { return 4 + count; }

  /// @param start The index of the first word. A ring that takes the place of another one continues
  ///              its indices, so that an index means one entry only.
  explicit ScalarRing(std::uint64_t start = 0)
      : tail_(start), knownSafe_(start), head_(start), safe_(start), drained_(start) {}

  /// Producer: returns whether an entry of `words` fits.
  bool hasRoom(std::size_t words = kEntryWords) {
    const std::uint64_t end = tail_.load(std::memory_order_relaxed) + words;
    return end - knownSafe_ <= kWords || hasRoomNow(end);
  }

  /// Producer: adds a scalar. REQUIRES: hasRoom()
  void pushScalar(std::uint32_t series, float value, std::int64_t step, std::uint64_t ticks) {
    push(packed(series, value), static_cast<std::uint64_t>(step), ticks);
  }

  /// Producer: adds a value, which the ring then owns. REQUIRES: hasRoom()
  void pushCaptured(CapturedValue* captured, std::uint64_t ticks) {
    push(0, reinterpret_cast<std::uintptr_t>(captured), ticks);
  }

  /// Producer: adds scalars that share their step and time. Also used for one scalar with a wall
  /// time that the caller gave. REQUIRES: hasRoom(batchWords(count)), 0 < count <= kMaxBatch
  void pushBatch(std::int64_t step, std::uint64_t ticks, std::uint64_t wallTime,
                 const BatchedScalar* scalars, std::size_t count);

  /// Producer: makes room for about `words`. First it gives up the places of entries that the
  /// consumer has taken but that are not yet safe: the consumer still has them, unless the process
  /// dies now. If that is not enough, it removes the oldest entries and appends them to
  /// `*discarded`. The caller then owns captured values in them.
  void discardOldest(std::uint64_t words, std::vector<RingEntry>* discarded);

  /// Consumer: appends entries to `*entries` up to the first one with ticks after `lastTicks`, or
  /// until there are `enough`.
  /// @return false if it stopped because there were enough.
  /// @throws std::bad_alloc, and then has taken nothing.
  bool drain(std::uint64_t lastTicks, std::size_t enough, std::vector<RingEntry>* entries);

  /// Consumer: how many words are waiting.
  std::uint64_t waiting() const {
    return tail_.load(std::memory_order_relaxed) - head_.load(std::memory_order_relaxed);
  }

  /// Consumer: the index after the last entry that drain() has taken.
  std::uint64_t drained() const { return drained_; }
  /// Consumer: gives the place of all entries up to drained() back, because they are safe now.
  void secure() { safe_.store(drained_, std::memory_order_release); }

  /// Either: up to where entries are safe; changes whenever room was made.
  std::uint64_t safe() const { return safe_.load(std::memory_order_acquire); }

  /// Where the parts of a ring lie in its bytes, and how a dead ring is read.
  struct Image;

 private:
  static constexpr std::uint32_t kBatch = ~std::uint32_t{0};  // no series has this number

  static std::uint64_t packed(std::uint32_t series, float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return series | std::uint64_t{bits} << 32;
  }
  void push(std::uint64_t first, std::uint64_t second, std::uint64_t third) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    store(tail, first);
    store(tail + 1, second);
    store(tail + 2, third);
    tail_.store(tail + kEntryWords, std::memory_order_release);
  }
  void store(std::uint64_t index, std::uint64_t word) {
    words_[index % kWords].store(word, std::memory_order_relaxed);
  }
  std::uint64_t load(std::uint64_t index) const {
    return words_[index % kWords].load(std::memory_order_relaxed);
  }
  static std::uint32_t lowerHalf(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  static std::uint32_t upperHalf(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static float valueOf(std::uint64_t word) {
    const std::uint32_t bits = upperHalf(word);
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

  /// Appends entries to a vector, whose elements after size() mean nothing until finish(): a
  /// push_back() for each would take a third of the time that an entry costs the consumer.
  class Appender {
   public:
    explicit Appender(std::vector<RingEntry>* entries)
        : entries_(*entries), size_(entries->size()) {}

    std::size_t size() const { return size_; }
    void add(const RingEntry& entry) {
      if (size_ == entries_.size()) {
        grow();
      }
      entries_[size_++] = entry;
    }
    void cutTo(std::size_t size) { size_ = size; }
    void finish() { entries_.resize(size_); }

   private:
    [[gnu::noinline]] void grow();

    std::vector<RingEntry>& entries_;
    std::size_t size_;
  };

  /// Appends the entry at `index`; for a batch, one per scalar.
  /// @return the index of the next entry.
  std::uint64_t unpack(std::uint64_t index, Appender* entries) const {
    const std::uint64_t first = load(index);
    if (lowerHalf(first) == kBatch) {
      return unpackBatch(index, entries);
    }
    entries->add({lowerHalf(first), valueOf(first), load(index + 1), load(index + 2),
                  RingEntry::kNoWallTime});
    return index + kEntryWords;
  }
  std::uint64_t unpackBatch(std::uint64_t index, Appender* entries) const;
  bool tryDrain(std::uint64_t lastTicks, std::size_t enough, std::vector<RingEntry>* entries);
  bool hasRoomNow(std::uint64_t end);
  /// Producer: returns the index up to which places can be used again.
  std::uint64_t reusableUpTo() const;

  // The producer's line, the consumer's line, then the words.
  alignas(64) std::atomic<std::uint64_t> tail_;
  std::uint64_t knownSafe_;
  // The places [from, to) were given up last. Whoever reads the ring of a dead process must not
  // begin before `to`: their words may be overwritten.
  std::atomic<std::uint64_t> discardedFrom_{0};
  std::atomic<std::uint64_t> discardedTo_{0};
  alignas(64) std::atomic<std::uint64_t> head_;
  std::atomic<std::uint64_t> safe_;
  std::uint64_t drained_;
  alignas(64) std::atomic<std::uint64_t> words_[kWords];
};

/// The ring of a process that has died, from its bytes, which may be damaged.
struct ScalarRing::Image {
  static constexpr std::size_t kHeadBytes = sizeof(std::uint64_t) * 16;
  static constexpr std::size_t kBytes = kHeadBytes + sizeof(std::uint64_t) * kWords;

  /// Where the entries are.
  struct Head {
    std::uint64_t tail = 0;         ///< The index after the last published word.
    std::uint64_t discardedTo = 0;  ///< Words before it may be overwritten.
    std::uint64_t safe = 0;         ///< Entries before it are safe elsewhere.

    bool operator==(const Head& other) const {
      return tail == other.tail && discardedTo == other.discardedTo && safe == other.safe;
    }
  };
  /// @param bytes The first kHeadBytes of a ring.
  static Head headOf(const char* bytes);
  static void setHead(const Head& head, char* bytes);
  /// Returns where the word `index` is among the bytes.
  static constexpr std::size_t offsetOf(std::uint64_t index) {
    return kHeadBytes + sizeof(std::uint64_t) * (index % kWords);
  }

  /// Appends the entries from `begin`, or from the first one after it that was neither
  /// discarded nor known to be safe.
  ///
  /// @param bytes kBytes of them.
  /// @param end   Set to the index after the last entry.
  /// @return false if the bytes are no ring in which `begin` can be; then nothing is appended.
  static bool read(const char* bytes, std::uint64_t begin, std::vector<RingEntry>* entries,
                   std::uint64_t* end);
};
static_assert(sizeof(ScalarRing) == ScalarRing::Image::kBytes, "the layout is a file format");

}  // namespace steptape::detail::log
