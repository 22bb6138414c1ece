// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"

#include "ranks/communicator/node_barrier.h"
#include "train/replicas/gradients/gradient_slots.h"
#include "train/replicas/gradients/wire_buffer.h"
#include "train/replicas/shared_memory/gradient_memory.h"
#include "train/replicas/shared_memory/slice_update.h"

namespace steptape::detail::train {

/// Adds up the sums of all nodes, which the first rank of each node sends.
class NodeRootSums {
 public:
  /// Collective.
  NodeRootSums(Communicator& world, Compression compression, std::chrono::milliseconds timeout);

  /// Returns whether this rank is the first of its node, and there are other nodes.
  bool takesPart() const { return roots_ != nullptr; }
  /// By what each node divides its sums before, which keeps them in the range of the gradients.
  double divisor() const { return divisor_; }
  /// REQUIRES: takesPart(), like sum().
  void addArray(const at::Tensor& sums) { arrays_.emplace_back(sums, compression_); }
  /// Replaces the arrays by the sums over all nodes, and the states by the maximum.
  void sum(std::vector<GradientState>& states);

 private:
  Compression compression_;
  double divisor_ = 1;
  std::shared_ptr<Communicator> roots_;  // null on other ranks, and if there is one node
  std::vector<CompressedBucket> arrays_;
};

/// Sums the gradients of all ranks in memory that the ranks of a node share.
///
/// Each rank has an array of all gradients in that memory. The ranks of a node split the elements:
/// rank r sums the r-th part of all ranks' arrays, always in the order of the ranks.
///
///     rank 0's array  [ part 0 | part 1 ]        rank 0 sums part 0,
///     rank 1's array  [ part 0 | part 1 ]        rank 1 sums part 1
///
/// With several nodes, the sums of the parts are written to the array of the node's first rank, and
/// an allreduce, in 16 bits if requested, adds the sums of the first ranks of all nodes. The sums
/// are divided by the number of ranks before the allreduce, which keeps them in the range of the
/// gradients.
///
/// An exchange is: gather(), then any of the calls up to finish(), the same on every rank. Between
/// finish() and the next gather(), each rank may write to its own array.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class SharedGradients {
 public:
  /// Allocates the shared memory and assigns it to the slots' gradients. Collective.
  ///
  /// @param compression Between nodes; not kPowerSgd.
  /// @return null on every rank if there is not enough memory: `why` is set to the reason.
  static std::unique_ptr<SharedGradients> create(std::vector<GradientSlot>& slots,
                                                 std::vector<FlatArray> arrays,
                                                 Compression compression, Communicator& world,
                                                 std::string& why);

  /// Adds this rank's gradients and waits for the other ranks. requested() then returns whether any
  /// rank of the node passed a nonzero `request`.
  void gather(bool request);
  bool requested() const { return requested_; }
  /// Returns whether any rank has a gradient for the slot. Valid after gather().
  GradientState stateOf(std::size_t slot) const;

  /// Sums this rank's part and returns the squared Euclidean norm of the whole sum, the same on
  /// every rank. The sums are then in each rank's own array, times `scale`.
  double sumAndNorm(double scale);
  /// Writes the sums, times `scale`, to every rank's array.
  void distribute(double scale);
  /// Returns the arrays to add up within part() to get the sums. `scale` is not yet applied.
  template <typename T>
  ArraySum<T> remainingSum(std::size_t array, double scale) const;

  /// The elements of an array that this rank sums.
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  Range part(std::size_t array) const;

  /// Waits until all ranks of the node have arrived. Their earlier writes are then visible.
  void meet(const char* what);
  void finish() { meet("the update of the gradients"); }

  const std::vector<FlatArray>& arrays() const { return arrays_; }
  bool isNodeRoot() const { return localRank_ == 0; }
  int nodes() const { return nodes_; }
  /// Returns the time spent waiting for other ranks.
  double waitSeconds() const { return static_cast<double>(waitNanos_) * 1e-9; }

 private:
  /// The arrays that hold the sums or the summands.
  enum class Source { kAllRanks, kNodeRoot, kOwnPart };

  SharedGradients(std::vector<GradientSlot>& slots, std::vector<FlatArray> arrays,
                  Compression compression, Communicator& world);
  void place(const std::shared_ptr<NodeMemory>& memory);
  void combineStates();
  void sumOverNodes();
  void meet(const char* what, std::chrono::milliseconds timeout);

  std::vector<GradientSlot>& slots_;
  std::vector<FlatArray> arrays_;
  int localRank_;
  int localSize_;
  int nodes_;
  std::chrono::milliseconds timeout_;
  NodeRootSums nodeSums_;
  GradientMemory memory_;
  std::optional<ranks::NodeBarrier> barrier_;

  // By source and array: the arrays to add up; then those of all ranks to write to.
  std::vector<std::vector<const void*>> allRanks_;
  Source source_ = Source::kAllRanks;
  bool requested_ = false;
  bool allDense_ = true;
  std::vector<GradientState> combined_;  // only if not all are dense
  std::int64_t waitNanos_ = 0;
};

}  // namespace steptape::detail::train
