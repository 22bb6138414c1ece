// SPDX-License-Identifier: Apache-2.0
#pragma once

// The deprecated C++ bindings are not used, and they cause compiler warnings.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

#include <mpi.h>

namespace steptape {
namespace detail::ranks {
struct Engine;
}
namespace mpi::detail {
class MpiTransport;
}

/// Options of MpiCommunicator.
struct MpiCommunicatorOptions {
  /// Initial Communicator::timeout(). Also limits construction.
  std::chrono::milliseconds timeout = std::chrono::minutes(10);

  /// Maximum number of elements in one MPI call, whose counts are `int`; larger operations take
  /// several calls. Must be equal on all ranks and at least size().
  std::int64_t maxCount = std::int64_t{1} << 30;

  /// Treats each block of this many consecutive ranks as a node: "host/0", "host/1" and so on. Lets
  /// code for several nodes run on one machine. 0: MPI decides which ranks share memory. Must be
  /// equal on all ranks.
  int ranksPerNode = 0;

  /// Whether a group of ranks on one node moves its data through memory that they share, instead of
  /// by MPI; also groups made from it. Must be equal on all ranks.
  bool useNodeMemory = true;

  /// Whether MPI is GPU-aware, in particular CUDA-aware: MPI_Isend() and MPI_Irecv() accept GPU
  /// memory. GradientSync then sums gradients on GPUs without a copy through main memory if it
  /// cannot use NCCL. Unset: what MPI reports. false on one rank means false on all.
  ///
  /// @source MPIX_Query_cuda_support() of Open MPI, MPIX_GPU_query_support() of MPICH.
  std::optional<bool> assumeGpuAware;
};

/// A Communicator over the ranks of an MPI communicator.
///
/// Works on duplicates of its own, so its messages never mix with those of other libraries. Ranks
/// of one node move their data through memory that they share, see
/// MpiCommunicatorOptions::useNodeMemory. Otherwise, every operation is a non-blocking MPI call.
/// Operations are polled, which makes timeout() possible. Polling does not pause at first, then
/// yields the core, and after 10 ms sleeps between polls. So background threads, and ranks that
/// outnumber the cores, make progress.
///
/// MPI cannot cancel a collective that ranks in different operations have started. So the ranks
/// compare their operations before data moves. An operation started with `Async` therefore moves
/// its data from the first isDone(), wait() or further operation on. Without
/// CollectiveOptions::compareRanks, operations whose data does not travel with the comparison take
/// less time.
///
/// A rank that waits long reports it to the others by a small message. Ranks that do not answer are
/// missing: warnings and timeout errors also name ranks that do not wait in the operation.
///
/// Errors of MPI become Error(kIoError) with MPI's own text, or Error(kRankMismatch) if they report
/// unequal sizes. After such an error or a timeout, every later operation throws
/// Error(kFailedPrecondition). Memory passed to an operation that timed out must stay valid until
/// the process ends, because MPI may still write to it.
///
/// @threads Not thread-safe: one thread at a time, the one that calls MPI. At MPI_THREAD_MULTIPLE
///         another thread may use a duplicate() at the same time.
class STEPTAPE_EXPORT MpiCommunicator final : public Communicator {
 public:
  /// Duplicates `parent` three times; `parent` stays the caller's. Collective.
  ///
  /// @throws Error(kFailedPrecondition) if MPI is not initialized or already finalized, or if a
  ///         launcher of another MPI has started this process (see Environment);
  ///         Error(kInvalidArgument) if `options.maxCount` is out of range;
  ///         Error(kDeadlineExceeded) if a rank does not arrive.
  explicit MpiCommunicator(MPI_Comm parent, const MpiCommunicatorOptions& options = {});
  /// Frees the duplicates, unless MPI is already finalized.
  ~MpiCommunicator() override;

  int rank() const override;
  int size() const override;
  int localRank() const override;
  int localSize() const override;
  int crossRank() const override;
  int crossSize() const override;
  const std::string& nodeName() const override;

  std::shared_ptr<Communicator> split(int color, int key) override;
  /// Returns whether MPI was initialized at MPI_THREAD_MULTIPLE.
  bool worksOnAnyThread() const override;
  /// Allocates POSIX shared memory and reserves its pages at once: if /dev/shm is too small, the
  /// call fails instead of a later access.
  std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes,
                                                 std::string* why = nullptr) override;
  std::unique_ptr<detail::ranks::DeviceExchange> makeDeviceExchange() override;

  /// Returns the duplicate that moves the data, for MPI calls of the caller's own. All ranks must
  /// make them in the same order as the operations above, with no operation in flight.
  MPI_Comm handle() const;

 protected:
  std::unique_ptr<detail::ranks::PendingCollective> start(
      const detail::ranks::CollectiveCall& call) override;

 private:
  MpiCommunicator(std::shared_ptr<mpi::detail::MpiTransport> transport,
                  const MpiCommunicatorOptions& options);

  std::shared_ptr<mpi::detail::MpiTransport> transport_;
  bool useNodeMemory_;
  bool isGpuAware_;
  std::shared_ptr<detail::ranks::Engine> engine_;
};

}  // namespace steptape
