// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ranks/engine/operation_lanes.h"
#include "ranks/engine/rank_blocks.h"

namespace steptape::detail::ranks {

/// The slots of a lane, two for each rank, through which the ranks of a node exchange bytes.
///
/// They do so in rounds: each rank writes to its slot and counts its arrival; when all ranks have
/// arrived, each reads what it needs from the slots of the others. Two slots are used in turn: a
/// rank that arrives in a round has read the slots of the previous one, so when all have arrived,
/// the other slots are free.
///
/// @threads Not thread-safe: one thread of a rank at a time.
class SharedSlots {
 public:
  using OfLanes = std::array<SharedSlots, kLanes>;

  /// Returns the bytes of a rank's block that has the slots of all lanes.
  static std::size_t blockBytesFor(int ranks);
  static OfLanes ofLanes(const RankBlocks& blocks);

  int rank() const { return blocks_.rank(); }
  int size() const { return blocks_.size(); }
  /// Returns how many bytes a slot holds after its head.
  std::size_t bytes() const { return bytes_; }

  /// Returns the head of the slot of `rank`, one cache line: what it says about its bytes.
  std::byte* headOf(int rank) const { return blocks_.at(rank, slotsAt_ + slot_ * stride_); }
  std::byte* dataOf(int rank) const { return headOf(rank) + RankBlocks::kLine; }

  /// Lets the other ranks read what this one has written.
  void arrive();
  /// Returns whether all ranks have arrived as often as this one.
  bool haveAllArrived();
  /// Changes to the other slots, for the next round.
  void turn() { slot_ ^= 1U; }

 private:
  SharedSlots(const RankBlocks& blocks, std::size_t counterAt, std::size_t slotsAt,
              std::size_t bytes);

  RankBlocks blocks_;
  std::size_t counterAt_;
  std::size_t slotsAt_;
  std::size_t bytes_;
  std::size_t stride_;
  std::uint64_t arrivals_ = 0;  // how often this rank has arrived
  int nextToArrive_ = 0;        // ranks below it have arrived as often
  unsigned slot_ = 0;           // which of the two slots is in use
};

}  // namespace steptape::detail::ranks
