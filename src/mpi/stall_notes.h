// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/mpi_group.h"

namespace steptape::mpi::detail {

/// Small messages by which ranks that wait find out who is missing.
///
/// A rank that has waited for long tells all others up to which collective it has come; those that
/// wait too answer in the same way. Who is not heard of does not wait: it computes, hangs or is
/// gone. A late rank finds the notes and reads them.
class StallNotes {
 public:
  explicit StallNotes(std::shared_ptr<MpiGroup> group) : group_(std::move(group)) {}
  StallNotes(const StallNotes&) = delete;
  StallNotes& operator=(const StallNotes&) = delete;
  ~StallNotes();

  /// Tells all others that this rank has started the collectives up to `latest` and waits in
  /// `call`, number `awaited`. Says a thing once only.
  void announce(std::uint64_t latest, std::uint64_t awaited, const CollectiveCall& call);
  /// As announce(), but only if another rank has asked since by telling of itself.
  void answer(std::uint64_t latest, std::uint64_t awaited, const CollectiveCall& call);
  /// Reads the notes that have arrived.
  void takeIn(const CollectiveCall& call);
  /// The ranks that have not announced collective `sequence`, each with what it waits in
  /// where that is known: "rank 3 (node7), rank 4 (node7) which is in barrier"; may be empty.
  std::string missing(std::uint64_t sequence) const;

 private:
  struct Note {
    std::uint64_t latest = 0;
    std::uint64_t awaited = 0;
    std::array<char, 240> call{};
  };
  struct Sent {
    Note note;
    std::vector<MPI_Request> requests;
  };

  void forgetSent();

  std::shared_ptr<MpiGroup> group_;
  std::vector<Note> heardByRank_;  // Empty until the first note.
  std::vector<std::unique_ptr<Sent>> sent_;
  std::uint64_t announced_ = 0;  // The latest collective that the others were told of.
  std::uint64_t askedFor_ = 0;   // The highest number that another rank waits for.
};

}  // namespace steptape::mpi::detail
