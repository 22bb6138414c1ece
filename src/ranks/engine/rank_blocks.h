// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace steptape::detail::ranks {

/// The memory that a NodeTransport shares: a block for each rank, of counters and a note, each with
/// cache lines of its own, and slots.
class RankBlocks {
 public:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kLatestAt = 0;
  static constexpr std::size_t kCountersAt = kLine;
  static constexpr std::size_t kNoteAt = 4 * kLine;
  static constexpr std::size_t kSlotsAt = 16 * kLine;

  /// @param memory     Zero at first; outlives this object.
  /// @param blockBytes Of each rank.
  RankBlocks(std::byte* memory, std::size_t blockBytes, int rank, int size)
      : memory_(memory), blockBytes_(blockBytes), rank_(rank), size_(size) {}

  int rank() const { return rank_; }
  int size() const { return size_; }

  std::byte* at(int rank, std::size_t offset) const {
    return memory_ + static_cast<std::size_t>(rank) * blockBytes_ + offset;
  }
  // Not constructed: zero bytes are counters at zero.
  std::atomic<std::uint64_t>& counterAt(int rank, std::size_t offset) const {
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(at(rank, offset));
  }

 private:
  std::byte* const memory_;
  const std::size_t blockBytes_;
  const int rank_;
  const int size_;
};

}  // namespace steptape::detail::ranks
