// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/stall_notes.h"

#include <algorithm>

namespace steptape::detail::ranks {

void StallNotes::announce(std::uint64_t latest, std::uint64_t awaited, const CollectiveCall& call) {
  if (latest <= announced_) {
    return;
  }
  announced_ = latest;
  StallNote note;
  note.latest = latest;
  note.awaited = awaited;
  const std::string text = call.describe().substr(0, note.call.size() - 1);
  std::copy(text.begin(), text.end(), note.call.begin());
  transport_->postNote(note);
}

void StallNotes::answer(std::uint64_t latest, std::uint64_t awaited, const CollectiveCall& call) {
  if (askedFor_ > announced_) {
    announce(latest, awaited, call);
  }
}

void StallNotes::takeIn() {
  int rank = 0;
  StallNote note;
  while (transport_->takeNote(rank, note)) {
    heardByRank_.resize(static_cast<std::size_t>(transport_->map().size()));
    heardByRank_[static_cast<std::size_t>(rank)] = note;
    askedFor_ = std::max(askedFor_, note.awaited);
  }
}

std::string StallNotes::missing(std::uint64_t sequence) const {
  if (!transport_->passesNotes()) {
    return "other ranks";
  }
  const GroupMap& map = transport_->map();
  std::string names;
  for (int rank = 0; rank < map.size(); ++rank) {
    const StallNote note =
        heardByRank_.empty() ? StallNote() : heardByRank_[static_cast<std::size_t>(rank)];
    if (rank == map.rank() || note.latest >= sequence) {
      continue;
    }
    names += (names.empty() ? "" : ", ") + map.nameOf(rank);
    if (note.call.front() != '\0') {
      names += std::string(" which is in ") + note.call.data();
    }
  }
  return names;
}

}  // namespace steptape::detail::ranks
