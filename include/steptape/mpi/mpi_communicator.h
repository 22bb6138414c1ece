// SPDX-License-Identifier: Apache-2.0
#pragma once

// The deprecated C++ bindings are not used and do not compile without warnings.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/distributed/communicator.h"

#include <mpi.h>

namespace steptape {

/// How an MpiCommunicator waits and splits its work.
struct MpiCommunicatorOptions {
  /// Communicator::timeout() from the start, so that construction has a bound too.
  std::chrono::milliseconds timeout = std::chrono::minutes(10);

  /// Most elements in one MPI call, whose counts are `int`; larger operations take several calls.
  /// Equal on all ranks, at least size().
  std::size_t maxCount = std::size_t{1} << 30;
};

/// The ranks of an MPI communicator.
///
/// Works on a duplicate of its own, so its messages never mix with those of other libraries. Every
/// operation is a non-blocking MPI call that is polled, which gives it the bound timeout(): at
/// first without a pause, then yielding the core, and after 10 ms sleeping between polls, so that
/// ranks that outnumber the cores, and writers' background threads, get on.
///
/// Errors of MPI become Error(kIoError) with MPI's own text; where one tells of unequal sizes, it
/// is Error(kRankMismatch). After an error or a timeout the communicator is out of step with the
/// other ranks: every later operation throws Error(kFailedPrecondition). The memory given to the
/// operation that timed out must stay as long as the process: MPI may still write to it.
///
/// @threads Not thread-safe: one thread at a time, the one that calls MPI.
class STEPTAPE_EXPORT MpiCommunicator final : public Communicator {
 public:
  /// Duplicates `parent`, which stays the caller's. Collective.
  ///
  /// @throws Error(kFailedPrecondition) if MPI is not initialised or finalised already;
  ///         Error(kInvalidArgument) if `options.maxCount` is out of range;
  ///         Error(kDeadlineExceeded) if a rank does not come.
  explicit MpiCommunicator(MPI_Comm parent, const MpiCommunicatorOptions& options = {});
  /// Frees the duplicate, unless MPI is finalised already.
  ~MpiCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int localRank() const override { return localRank_; }
  int localSize() const override { return localSize_; }

  void allreduce(Span<float> data, ReduceOp op) override;
  void allreduce(Span<double> data, ReduceOp op) override;
  void allreduce(Span<MetricMoments> data) override;
  void broadcast(void* data, std::size_t bytes, int root) override;
  std::vector<std::string> allgather(std::string_view bytes) override;
  void barrier() override;

  /// The duplicate, for MPI calls of the caller's own, in step with the operations above.
  MPI_Comm handle() const { return communicator_; }

 private:
  /// What an operation is called in messages, and how much it moves.
  struct Operation {
    const char* name;
    std::size_t bytes;
  };

  void findLocalRank();
  void checkUsable(const Operation& operation) const;
  void check(int mpiResult, const Operation& operation);
  void wait(MPI_Request& request, const Operation& operation);
  void allreduceElements(void* data, std::size_t count, MPI_Datatype type, std::size_t typeBytes,
                         MPI_Op op);
  void allgatherRound(std::string_view mine, std::size_t offset, std::size_t bytesPerRank,
                      std::vector<std::string>& gathered);

  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Datatype momentsType_ = MPI_DATATYPE_NULL;
  MPI_Op momentsOp_ = MPI_OP_NULL;
  std::size_t maxCount_;
  int rank_ = 0;
  int size_ = 1;
  int localRank_ = 0;
  int localSize_ = 1;
  // Members, so that they stay when an allgather that uses them runs out of time.
  std::vector<std::uint64_t> gatherSizes_;
  std::string gatherPieces_;
  std::string brokenBecause_;  // Empty: all is well.
};

}  // namespace steptape
