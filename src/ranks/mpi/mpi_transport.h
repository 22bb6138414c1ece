// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/mpi_communicator.h"

#include "ranks/engine/transport.h"

namespace steptape::mpi::detail {

using steptape::detail::ranks::CollectiveCall;
using steptape::detail::ranks::ComparedMessage;
using steptape::detail::ranks::GroupMap;
using steptape::detail::ranks::RankParts;
using steptape::detail::ranks::StallNote;
using steptape::detail::ranks::Transfer;

/// Waits for a request that does not belong to a collective of a group.
///
/// @throws Error(kDeadlineExceeded) with `what`; Error(kIoError) with MPI's error message.
void waitFor(MPI_Request& request, const std::string& what, std::chrono::milliseconds timeout);

/// Returns MPI's text about an error code.
std::string errorText(int result);

/// Duplicates `parent`. Collective.
/// @throws as waitFor().
MPI_Comm duplicate(MPI_Comm parent, std::chrono::milliseconds timeout);

/// Returns the ranks of `communicator` as numbered in MPI_COMM_WORLD; empty if one is in another
/// world.
std::vector<int> worldRanksOf(MPI_Comm communicator);

/// Moves data by MPI.
///
/// There are three communicators, because MPI requires that each rank starts the collectives of one
/// communicator in the same order: data is sent after the ranks have been compared, comparisons
/// start at once, and descriptions are exchanged only after a mismatch.
class MpiTransport final : public steptape::detail::ranks::Transport {
 public:
  /// Takes ownership of `data` and duplicates it. Collective.
  MpiTransport(MPI_Comm data, GroupMap map, const MpiCommunicatorOptions& options);
  /// Frees the handles, unless MPI is already finalized or may still use them.
  ~MpiTransport() override;

  MPI_Comm data() const { return data_; }
  MPI_Comm comparisons() const { return comparisons_; }

  Transfer compare(ComparedMessage& message) override;
  Transfer gatherReports(char* all, std::size_t bytesPerRank) override;
  Transfer barrier() override;
  Transfer broadcast(void* data, std::size_t bytes, int root) override;
  Transfer allgather(void* all, std::size_t bytesPerRank) override;
  Transfer allgatherv(void* all, const RankParts& parts) override;
  Transfer gatherv(const void* mine, std::size_t bytes, int root, void* all,
                   const RankParts& parts) override;
  Transfer alltoallv(const void* from, const RankParts& sent, void* to,
                     const RankParts& received) override;
  bool canReduce(const CollectiveCall& call) const override;
  Transfer allreduce(const CollectiveCall& call, std::size_t offset, std::size_t count) override;
  Transfer reduceScatter(const CollectiveCall& call, const std::vector<int>& counts) override;
  bool hasEnded(Transfer& transfer) override;
  void postNote(const StallNote& note) override;
  bool takeNote(int& rank, StallNote& note) override;

  bool enter() override;
  void leave() override;
  std::string endedBecause() const override;
  std::string unusableBecause() const override;
  void noteBroken(const std::string& why) override;
  std::string lostBecause() override;

 private:
  /// A note on its way to the other ranks.
  struct SentNote {
    StallNote note;
    std::vector<MPI_Request> requests;
  };
  /// Describes the elements to an MPI reduction.
  struct ElementType {
    MPI_Datatype type;
    MPI_Op op;
  };

  ElementType elementTypeOf(const CollectiveCall& call) const;
  void forgetTakenNotes();

  MPI_Comm data_;
  MPI_Comm comparisons_ = MPI_COMM_NULL;
  MPI_Comm reports_ = MPI_COMM_NULL;
  MPI_Datatype comparisonType_ = MPI_DATATYPE_NULL;
  MPI_Op comparisonOp_ = MPI_OP_NULL;
  MPI_Datatype momentsType_ = MPI_DATATYPE_NULL;
  MPI_Op momentsOp_ = MPI_OP_NULL;
  MPI_Op floatMinOp_ = MPI_OP_NULL;
  MPI_Op floatMaxOp_ = MPI_OP_NULL;
  std::vector<std::unique_ptr<SentNote>> sentNotes_;
};

}  // namespace steptape::mpi::detail
