// SPDX-License-Identifier: Apache-2.0
#include "mpi/stall_notes.h"

#include <algorithm>

#include "mpi/job_state.h"

namespace steptape::mpi::detail {
namespace {

constexpr int kNoteTag = 1;

}  // namespace

StallNotes::~StallNotes() {
  if (sent_.empty() || !isMpiRunning()) {
    return;
  }
  forgetSent();
  for (std::unique_ptr<Sent>& sent : sent_) {
    static_cast<void>(sent.release());  // MPI still reads it: a rank has not received its note
  }
}

void StallNotes::announce(std::uint64_t latest, std::uint64_t awaited, const CollectiveCall& call) {
  if (latest <= announced_) {
    return;
  }
  announced_ = latest;
  forgetSent();
  auto sent = std::make_unique<Sent>();
  sent->note.latest = latest;
  sent->note.awaited = awaited;
  const std::string text = call.describe().substr(0, sent->note.call.size() - 1);
  std::copy(text.begin(), text.end(), sent->note.call.begin());
  for (int rank = 0; rank < group_->map().size(); ++rank) {
    if (rank != group_->map().rank()) {
      group_->check(MPI_Isend(&sent->note, sizeof(Note), MPI_BYTE, rank, kNoteTag,
                              group_->reports(), &sent->requests.emplace_back()),
                    call);
    }
  }
  sent_.push_back(std::move(sent));
}

void StallNotes::answer(std::uint64_t latest, std::uint64_t awaited, const CollectiveCall& call) {
  if (askedFor_ > announced_) {
    announce(latest, awaited, call);
  }
}

void StallNotes::takeIn(const CollectiveCall& call) {
  while (true) {
    int isThere = 0;
    MPI_Status status;
    group_->check(MPI_Iprobe(MPI_ANY_SOURCE, kNoteTag, group_->reports(), &isThere, &status), call);
    if (isThere == 0) {
      return;
    }
    Note note;
    group_->check(MPI_Recv(&note, sizeof note, MPI_BYTE, status.MPI_SOURCE, kNoteTag,
                           group_->reports(), MPI_STATUS_IGNORE),
                  call);
    heardByRank_.resize(static_cast<std::size_t>(group_->map().size()));
    heardByRank_[static_cast<std::size_t>(status.MPI_SOURCE)] = note;
    askedFor_ = std::max(askedFor_, note.awaited);
  }
}

std::string StallNotes::missing(std::uint64_t sequence) const {
  std::string names;
  for (int rank = 0; rank < group_->map().size(); ++rank) {
    const Note note = heardByRank_.empty() ? Note() : heardByRank_[static_cast<std::size_t>(rank)];
    if (rank == group_->map().rank() || note.latest >= sequence) {
      continue;
    }
    names += (names.empty() ? "" : ", ") + group_->map().nameOf(rank);
    if (note.latest > 0) {
      names += std::string(" which is in ") + note.call.data();
    }
  }
  return names;
}

void StallNotes::forgetSent() {
  const auto haveAllTaken = [](const std::unique_ptr<Sent>& sent) {
    int haveAll = 0;
    MPI_Testall(static_cast<int>(sent->requests.size()), sent->requests.data(), &haveAll,
                MPI_STATUSES_IGNORE);
    return haveAll != 0;
  };
  sent_.erase(std::remove_if(sent_.begin(), sent_.end(), haveAllTaken), sent_.end());
}

}  // namespace steptape::mpi::detail
