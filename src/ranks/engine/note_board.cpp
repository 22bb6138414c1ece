// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/note_board.h"

#include <cstring>
#include <tuple>

namespace steptape::detail::ranks {

NoteBoard::NoteBoard(const RankBlocks& blocks)
    : blocks_(blocks),
      seenLatest_(static_cast<std::size_t>(blocks.size()), 0),
      seenVersion_(static_cast<std::size_t>(blocks.size()), 0) {
  static_assert(RankBlocks::kNoteAt + sizeof(Cell) <= RankBlocks::kSlotsAt);
}

// Not constructed: zero bytes are version 0.
NoteBoard::Cell& NoteBoard::cellOf(int rank) const {
  return *reinterpret_cast<Cell*>(blocks_.at(rank, RankBlocks::kNoteAt));
}

void NoteBoard::post(const StallNote& note) {
  Cell& cell = cellOf(blocks_.rank());
  std::array<std::uint64_t, std::tuple_size_v<decltype(Cell::words)>> words;
  static_assert(sizeof words == sizeof note);
  std::memcpy(words.data(), &note, sizeof note);
  cell.version.fetch_add(1, std::memory_order_acq_rel);
  for (std::size_t i = 0; i < words.size(); ++i) {
    cell.words[i].store(words[i], std::memory_order_release);
  }
  cell.version.fetch_add(1, std::memory_order_release);
}

bool NoteBoard::take(int& rank, StallNote& note) {
  for (int other = 0; other < blocks_.size(); ++other) {
    const auto index = static_cast<std::size_t>(other);
    if (other == blocks_.rank()) {
      continue;
    }
    const std::uint64_t latest =
        blocks_.counterAt(other, RankBlocks::kLatestAt).load(std::memory_order_acquire);
    const Cell& cell = cellOf(other);
    const std::uint64_t version = cell.version.load(std::memory_order_acquire);
    if (version % 2 != 0 || (latest == seenLatest_[index] && version == seenVersion_[index])) {
      continue;
    }
    std::array<std::uint64_t, std::tuple_size_v<decltype(Cell::words)>> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = cell.words[i].load(std::memory_order_acquire);
    }
    if (cell.version.load(std::memory_order_acquire) != version) {
      continue;  // it is being written; the next look reads it
    }
    std::memcpy(static_cast<void*>(&note), words.data(), sizeof note);
    if (latest > note.latest) {
      note.latest = latest;
      note.call.front() = '\0';  // it has left the wait that it told of
    }
    seenLatest_[index] = latest;
    seenVersion_[index] = version;
    rank = other;
    return true;
  }
  return false;
}

void NoteBoard::noteLatest(std::uint64_t latest) {
  blocks_.counterAt(blocks_.rank(), RankBlocks::kLatestAt).store(latest, std::memory_order_release);
}

}  // namespace steptape::detail::ranks
