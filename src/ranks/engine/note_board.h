// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ranks/engine/rank_blocks.h"
#include "ranks/engine/transport.h"

namespace steptape::detail::ranks {

/// The notes of the ranks of a node about the waits that they are in, which each other rank reads
/// once.
///
/// @threads Not thread-safe: one thread of a rank at a time.
class NoteBoard {
 public:
  explicit NoteBoard(const RankBlocks& blocks);

  /// Replaces the note of this rank.
  void post(const StallNote& note);
  /// Takes a note of another rank that is new to this one.
  /// @return whether there was one.
  bool take(int& rank, StallNote& note);
  /// Tells the others the latest collective that this rank has begun.
  void noteLatest(std::uint64_t latest);

 private:
  /// A note that other ranks may read while it is written: the version is then odd, or changes.
  struct Cell {
    std::atomic<std::uint64_t> version;
    std::array<std::atomic<std::uint64_t>, sizeof(StallNote) / sizeof(std::uint64_t)> words;
  };

  Cell& cellOf(int rank) const;

  const RankBlocks blocks_;
  std::vector<std::uint64_t> seenLatest_;  // by rank
  std::vector<std::uint64_t> seenVersion_;
};

}  // namespace steptape::detail::ranks
