// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steptape/mpi/mpi_communicator.h"

#include "comm/collective_call.h"
#include "comm/group_map.h"

namespace steptape::mpi::detail {

using steptape::detail::CollectiveCall;
using steptape::detail::GroupMap;

/// Waits for a request that does not belong to a collective of a group.
///
/// @throws Error(kDeadlineExceeded) with `what`; Error(kIoError) with MPI's error message.
void waitFor(MPI_Request& request, const std::string& what, std::chrono::milliseconds timeout);

/// Duplicates `parent`. Collective.
/// @throws as waitFor().
MPI_Comm duplicate(MPI_Comm parent, std::chrono::milliseconds timeout);

/// Returns the ranks of `communicator` as numbered in MPI_COMM_WORLD; empty if one is in another
/// world.
std::vector<int> worldRanksOf(MPI_Comm communicator);

/// MPI's handles of one group, and whether they are still usable.
///
/// There are three communicators, because MPI requires that each rank starts the collectives of one
/// communicator in the same order: data is sent after the ranks have been compared, comparisons
/// start at once, and descriptions are exchanged only after a mismatch.
class MpiGroup {
 public:
  /// Takes ownership of `data` and duplicates it. Collective.
  MpiGroup(MPI_Comm data, GroupMap map, const MpiCommunicatorOptions& options);
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;
  /// Frees the handles, unless MPI is already finalized or may still use them.
  ~MpiGroup();

  MPI_Comm data() const { return data_; }
  MPI_Comm comparisons() const { return comparisons_; }
  MPI_Comm reports() const { return reports_; }
  /// ComparedMessage's.
  MPI_Datatype comparisonType() const { return comparisonType_; }
  MPI_Op comparisonOp() const { return comparisonOp_; }
  MPI_Datatype momentsType() const { return momentsType_; }
  MPI_Op momentsOp() const { return momentsOp_; }
  const GroupMap& map() const { return map_; }
  std::size_t maxCount() const { return maxCount_; }

  /// @throws Error(kFailedPrecondition) if no collective can succeed any more.
  void checkUsable(const CollectiveCall& call) const;
  /// Does nothing if `mpiResult` is a success. Otherwise marks the group as broken.
  ///
  /// @throws Error(kIoError) with MPI's error message, or Error(kRankMismatch) if MPI reports
  ///         unequal sizes.
  void check(int mpiResult, const CollectiveCall& call);

  /// Makes every later collective fail.
  void markBroken(const std::string& why);
  bool isBroken() const { return !brokenBecause_.empty(); }

 private:
  MPI_Comm data_;
  MPI_Comm comparisons_ = MPI_COMM_NULL;
  MPI_Comm reports_ = MPI_COMM_NULL;
  MPI_Datatype comparisonType_ = MPI_DATATYPE_NULL;
  MPI_Op comparisonOp_ = MPI_OP_NULL;
  MPI_Datatype momentsType_ = MPI_DATATYPE_NULL;
  MPI_Op momentsOp_ = MPI_OP_NULL;
  GroupMap map_;
  std::size_t maxCount_;
  std::string brokenBecause_;  // empty: not broken
};

}  // namespace steptape::mpi::detail
