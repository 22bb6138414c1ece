// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "steptape/base/dtype.h"
#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

#include "base/loop_thread.h"

namespace steptape::detail::ranks {

/// The ranks of a communicator as a group of NCCL. Each rank has a GPU of its own: the current
/// device of the thread that makes the group.
///
/// NCCL's operations are queued on the stream of the GPU, and no call waits for another rank,
/// except the first of each size, in which NCCL connects the ranks. Nothing compares what ranks
/// call: they must queue the same operations in the same order. A thread of the group looks at the
/// oldest unfinished operation. If it exceeds the time limit, or if NCCL reports an error, the
/// thread aborts the group, so that its stream and a host that waits for the stream continue.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT NcclGroup {
 public:
  /// Makes a group of the ranks of `world`. Collective.
  ///
  /// @param library As for dlopen(3), such as "libnccl.so.2"; equal on all ranks.
  /// @param timeout How long an operation may be the oldest unfinished one.
  /// @param why     If the result is null: receives the reason, the same on every rank.
  /// @return null on every rank if a rank has no NCCL or no CUDA, or shares its GPU with another
  ///         rank.
  static std::unique_ptr<NcclGroup> make(Communicator& world, const std::string& library,
                                         std::chrono::milliseconds timeout, std::string& why);
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  /// Waits for the operations on this rank's GPU, or aborts them if the group has failed.
  ~NcclGroup();

  /// Returns the stream of the group's operations: cudaStream_t. It outlives the group, and other
  /// groups of the GPU use it too.
  void* stream() const;

  /// Queues the sum of `count` elements of all ranks, in place.
  ///
  /// The order of additions is NCCL's: the same on every rank, but it depends on the number of
  /// ranks and on how GPUs are connected. Elements of 16 bits are rounded after each addition.
  ///
  /// @param name For error messages.
  /// @param data Memory of the GPU.
  /// @param type A type that ncclType() knows.
  /// @throws Error(kDeadlineExceeded) if the group was aborted; Error(kIoError) with NCCL's reason.
  void sum(const std::string& name, void* data, std::size_t count, DType type);
  /// Lets the group's thread watch the operation queued last.
  ///
  /// @param name     As for sum().
  /// @param hasEnded Returns without waiting whether the GPU has completed it. Any thread.
  void watch(const std::string& name, std::function<bool()> hasEnded);

  /// Ends all operations, with undefined results. Every later sum() throws with `why`.
  void abort(const std::string& why) noexcept;
  /// @throws the error of a group that was aborted.
  void requireUsable() const;

 private:
  struct State;

  explicit NcclGroup(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
  std::unique_ptr<base::LoopThread> thread_;  // null until the first operation
};

}  // namespace steptape::detail::ranks
