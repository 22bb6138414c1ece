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
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

#include <mpi.h>

namespace steptape {
namespace mpi::detail {
class MpiGroup;
struct MpiEngine;
}  // namespace mpi::detail

/// How an MpiCommunicator waits and splits its work.
struct MpiCommunicatorOptions {
  /// Communicator::timeout() from the start, so that construction has a bound too.
  std::chrono::milliseconds timeout = std::chrono::minutes(10);

  /// Most elements in one MPI call, whose counts are `int`; larger operations take several calls.
  /// Equal on all ranks, at least size().
  std::size_t maxCount = std::size_t{1} << 30;

  /// Treats each block of so many consecutive ranks as a node of its own, "host/0", "host/1" and so
  /// on, so that code for several nodes runs on one machine. 0: MPI says which ranks share memory.
  /// Equal on all ranks.
  int ranksPerNode = 0;
};

/// The ranks of an MPI communicator.
///
/// Works on duplicates of its own, so its messages never mix with those of other libraries. Every
/// operation is a non-blocking MPI call that is polled, which gives it the bound timeout(): at
/// first without a pause, then yielding the core, and after 10 ms sleeping between polls, so that
/// ranks that outnumber the cores, and writers' background threads, get on.
///
/// The ranks are compared before the data moves, because MPI cannot take back what ranks in
/// different operations have started. An operation that was started with `Async` therefore moves
/// its data from the first isDone(), wait() or further operation on, and a short blocking one takes
/// about as long again: 2.6 instead of 1.3 microseconds for one float on 2 ranks of one node, where
/// CollectiveOptions::compareRanks saves the difference.
///
/// A rank that waits for long tells the others so by a small message, and who does not answer is
/// missing: warnings and errors of time-outs name those that do not wait in the operation too.
///
/// Errors of MPI become Error(kIoError) with MPI's own text; where one tells of unequal sizes, it
/// is Error(kRankMismatch). After such an error or a timeout the communicator is out of step with
/// the other ranks: every later operation throws Error(kFailedPrecondition). The memory given to
/// the operation that timed out must stay as long as the process: MPI may still write to it.
///
/// @threads Not thread-safe: one thread at a time, the one that calls MPI. At MPI_THREAD_MULTIPLE
///          another thread may use a duplicate() at the same time.
class STEPTAPE_EXPORT MpiCommunicator final : public Communicator {
 public:
  /// Duplicates `parent`, three times; it stays the caller's. Collective.
  ///
  /// @throws Error(kFailedPrecondition) if MPI is not initialized or finalized already;
  ///         Error(kInvalidArgument) if `options.maxCount` is out of range;
  ///         Error(kDeadlineExceeded) if a rank does not come.
  explicit MpiCommunicator(MPI_Comm parent, const MpiCommunicatorOptions& options = {});
  /// Frees the duplicates, unless MPI is finalized already.
  ~MpiCommunicator() override;

  int rank() const override;
  int size() const override;
  int localRank() const override;
  int localSize() const override;
  int crossRank() const override;
  int crossSize() const override;
  const std::string& nodeName() const override;

  std::shared_ptr<Communicator> split(int color, int key) override;
  /// Whether MPI was initialized at MPI_THREAD_MULTIPLE.
  bool worksOnAnyThread() const override;
  /// POSIX shared memory, whose pages are reserved at once: too little room in /dev/shm is a
  /// refusal here, not a crash at the first touch.
  std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes,
                                                 std::string* why = nullptr) override;

  /// The duplicate that moves the data, for MPI calls of the caller's own, in step with the
  /// operations above, of which none may be on its way.
  MPI_Comm handle() const;

 protected:
  std::unique_ptr<detail::PendingCollective> start(const detail::CollectiveCall& call) override;

 private:
  explicit MpiCommunicator(const std::shared_ptr<mpi::detail::MpiGroup>& group);

  std::shared_ptr<mpi::detail::MpiEngine> engine_;
};

}  // namespace steptape
