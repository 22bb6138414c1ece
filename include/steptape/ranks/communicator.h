// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/ranks/collective.h"

namespace steptape {
namespace detail::ranks {
class CollectiveDetails;
class DeviceExchange;
class GroupState;
struct CollectiveCall;
}  // namespace detail::ranks

/// A group of ranks that call the same operations in the same order.
///
/// This class itself is the serial group of one rank. Code written against it runs without a
/// launcher; MpiCommunicator implements it for processes, testing::ThreadCommunicator for threads.
///
/// Every operation below is collective: all ranks call it in the same order, with equal sizes
/// unless stated otherwise. The ranks compare their operations before they move data, see
/// CollectiveOptions. If they disagree, every rank throws the same Error(kRankMismatch), which
/// names the first rank that differs and its operation. Data is then unchanged and the group stays
/// usable: the failed operation counts as one for every rank, and the next operations match again.
/// If a rank does not arrive within timeout(), the others throw Error(kDeadlineExceeded), which
/// names it.
///
/// Calls that end in `Async` return immediately; see CollectiveHandle.
///
/// While a profiler records, each operation is a span of SpanKind::kCollective. Its name is the one
/// that PyTorch uses for Gloo, such as "gloo:all_reduce", for every transport, because viewers
/// recognize no others. Its details hold type, size, group and CollectiveOptions::name. The span
/// "wait for ranks" of SpanKind::kWait inside it lasts until all ranks have arrived; the rest is
/// transfer. It is missing if the ranks are not compared. An `Async` operation is a detached span
/// that ends in the call that found it done; while wait() blocks, the thread has a span "wait for
/// gloo:all_reduce".
///
/// @threads Not thread-safe: one thread at a time, the one that may call MPI. If worksOnAnyThread()
///         is true, a second thread may use a duplicate().
class STEPTAPE_EXPORT Communicator {
 public:
  Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator();

  virtual int rank() const;
  virtual int size() const;
  /// Returns this rank's index among the ranks of its node, for example to choose a device.
  virtual int localRank() const;
  virtual int localSize() const;
  /// Returns the index of this rank's node (nodes are ordered by their lowest rank) and the number
  /// of nodes.
  virtual int crossRank() const;
  virtual int crossSize() const;
  /// Returns the host name, for messages and logs.
  virtual const std::string& nodeName() const;
  bool isRoot() const { return rank() == 0; }

  /// Combines `data` element by element over all ranks; every rank gets the result in place.
  ///
  /// float16 and bfloat16 are summed in float32, in the order of the ranks, and rounded once. Sums
  /// and products of integers wrap around.
  ///
  /// @throws Error(kInvalidArgument) for the average of integers or bool, and for null data.
  void allreduce(Elements data, ReduceOp op, const CollectiveOptions& options = {});
  CollectiveHandle allreduceAsync(Elements data, ReduceOp op,
                                  const CollectiveOptions& options = {});
  /// Combines `from` and writes the result to `to`; `from` is unchanged.
  ///
  /// @throws Error(kInvalidArgument) if `to` has another size or type, or partly overlaps `from`.
  void allreduce(Elements from, Elements to, ReduceOp op, const CollectiveOptions& options = {});
  CollectiveHandle allreduceAsync(Elements from, Elements to, ReduceOp op,
                                  const CollectiveOptions& options = {});
  /// Combines several arrays of one type in one operation.
  void allreduceGrouped(const std::vector<Elements>& group, ReduceOp op,
                        const CollectiveOptions& options = {});
  CollectiveHandle allreduceGroupedAsync(const std::vector<Elements>& group, ReduceOp op,
                                         const CollectiveOptions& options = {});
  /// Combines moments with MetricMoments::merge().
  void allreduce(ArrayView<MetricMoments> data, const CollectiveOptions& options = {});
  CollectiveHandle allreduceAsync(ArrayView<MetricMoments> data,
                                  const CollectiveOptions& options = {});
  /// Combines `from` and writes the result to `to`; `from` is unchanged.
  ///
  /// @throws Error(kInvalidArgument) if `to` has another size or overlaps `from`.
  CollectiveHandle allreduceAsync(ArrayView<const MetricMoments> from, ArrayView<MetricMoments> to,
                                  const CollectiveOptions& options = {});

  /// Combines as allreduce() does, and gives each rank one part of the result.
  ///
  /// @param from    All parts, concatenated by rank; its size is the sum of the parts' sizes.
  /// @param to      This rank's part. The parts' sizes may differ. Must not overlap `from`.
  /// @param op      How elements are combined.
  /// @param options See CollectiveOptions.
  /// @throws Error(kRankMismatch) on all ranks if the sizes of all parts do not add up to that of
  ///         `from`.
  void reduceScatter(Elements from, Elements to, ReduceOp op,
                     const CollectiveOptions& options = {});
  CollectiveHandle reduceScatterAsync(Elements from, Elements to, ReduceOp op,
                                      const CollectiveOptions& options = {});

  /// Replaces `bytes` bytes at `data` with those of `root`; sizes must agree.
  ///
  /// @throws Error(kInvalidArgument) if `root` is not a rank.
  void broadcast(void* data, std::size_t bytes, int root, const CollectiveOptions& options = {});
  CollectiveHandle broadcastAsync(void* data, std::size_t bytes, int root,
                                  const CollectiveOptions& options = {});
  /// Returns the bytes of `root`. The other ranks need not know their number.
  std::string broadcastObject(std::string_view bytes, int root,
                              const CollectiveOptions& options = {});

  /// Returns the bytes of every rank, by rank; the sizes may differ.
  std::vector<std::string> allgather(std::string_view bytes, const CollectiveOptions& options = {});
  /// Like allgather(); `gathered` must outlive the collective.
  CollectiveHandle allgatherAsync(std::string_view bytes, std::vector<std::string>& gathered,
                                  const CollectiveOptions& options = {});
  /// Like allgather(), but only `root` gets the bytes; the other ranks hold none but their own, and
  /// their result is empty.
  std::vector<std::string> gatherObject(std::string_view bytes, int root,
                                        const CollectiveOptions& options = {});

  /// Like gatherObject(); `bytes` and `gathered` must outlive the collective.
  CollectiveHandle gatherObjectAsync(std::string_view bytes, std::vector<std::string>& gathered,
                                     int root, const CollectiveOptions& options = {});

  /// Sends `toRank[r]` to rank r. The sizes may differ.
  ///
  /// @return the bytes received, by rank.
  /// @throws Error(kInvalidArgument) unless `toRank` has one entry per rank.
  std::vector<std::string> alltoall(const std::vector<std::string>& toRank,
                                    const CollectiveOptions& options = {});
  /// Like alltoall(); `toRank` and `fromRank` must outlive the collective.
  CollectiveHandle alltoallAsync(const std::vector<std::string>& toRank,
                                 std::vector<std::string>& fromRank,
                                 const CollectiveOptions& options = {});

  /// Returns once every rank has called it.
  void barrier(const CollectiveOptions& options = {});

  /// Splits the group: ranks that pass the same `color` form a group, ordered by `key`, then by
  /// rank. The new group inherits timeout() and the stall warning.
  ///
  /// @param color At least 0; -1 for a rank that joins no group.
  /// @param key   Sort key within the new group.
  /// @return the new group; null for color -1.
  virtual std::shared_ptr<Communicator> split(int color, int key);
  /// Returns a group of `ranks`, in that order; null on ranks that are not in it. All ranks call
  /// it.
  ///
  /// @throws Error(kInvalidArgument) if an entry is not a rank or occurs twice.
  std::shared_ptr<Communicator> subgroup(const std::vector<int>& ranks);
  /// Returns a group of the same ranks whose messages never mix with those of this group.
  std::shared_ptr<Communicator> duplicate();

  /// Returns whether a duplicate() may be used on another thread while this group is used on this
  /// one. The same on all ranks.
  virtual bool worksOnAnyThread() const;

  /// Allocates memory that all ranks of this rank's node share. All ranks of the group call it;
  /// `bytes` must be equal on the ranks of a node.
  ///
  /// @param bytes Size of the block.
  /// @param why   If not null and the allocation fails: receives the node and the reason, on every
  ///              rank.
  /// @return null on every rank of the group if one node cannot provide the memory.
  virtual std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes,
                                                         std::string* why = nullptr);

  /// Makes an exchange of GPU memory between the ranks, with the present timeout(), for
  /// GradientSync. Collective. The group must outlive it.
  ///
  /// @return null on every rank unless each rank's transport reads and writes GPU memory; see
  ///         MpiCommunicatorOptions::assumeGpuAware.
  virtual std::unique_ptr<detail::ranks::DeviceExchange> makeDeviceExchange();

  /// Returns how long an operation waits for other ranks, counted from the first wait() or isDone()
  /// that finds it in flight. Default: 10 minutes. After a timeout the ranks are out of step, and
  /// every further operation of the group fails.
  std::chrono::milliseconds timeout() const { return timeout_; }
  void setTimeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  /// Receives the warning that an operation waits for other ranks.
  using StallListener = std::function<void(const std::string& warning)>;
  /// Sets how long an operation waits before this rank warns, and where the warning goes. A rank
  /// warns once per operation and names the operation and the missing ranks. Default: after one
  /// minute, to stderr after rankPrefix(). Groups and memory made later inherit the setting.
  ///
  /// @param after    Zero: never warn.
  /// @param listener Receives the warning; empty: stderr.
  void setStallWarning(std::chrono::milliseconds after, StallListener listener = {});
  std::chrono::milliseconds stallWarningAfter() const { return stallWarningAfter_; }

 protected:
  /// Starts a collective whose arguments have been checked. Not called for groups of one rank.
  virtual std::unique_ptr<detail::ranks::PendingCollective> start(
      const detail::ranks::CollectiveCall& call);

  /// Passes a warning that a collective waits to the listener.
  void warnOfStall(const std::string& warning) const;
  /// Sets the job's ranks that form this group, in the group's order, for traces. Call it before
  /// the first operation; without it traces do not list them.
  void setJobRanks(std::vector<int> ranks) { jobRanks_ = std::move(ranks); }
  /// Copies timeout() and the stall warning to a group made from this one.
  void shareSettings(Communicator& child) const;
  /// Copies the stall warning to memory made from this group, which may outlive the group.
  void shareSettings(NodeMemory& memory) const;
  /// Starts a collective on `other`, for a communicator that delegates its collectives.
  ///
  /// @return null if it has ended, as always in a group of one rank.
  static std::unique_ptr<detail::ranks::PendingCollective> startOn(
      Communicator& other, const detail::ranks::CollectiveCall& call);

 private:
  std::unique_ptr<detail::ranks::PendingCollective> beginPacked(
      const detail::ranks::CollectiveCall& call);
  /// Like beginPacked(), and copies the result of a grouped operation back into its arrays.
  std::unique_ptr<detail::ranks::PendingCollective> begin(
      const detail::ranks::CollectiveCall& call);
  void run(const detail::ranks::CollectiveCall& call);
  CollectiveHandle post(const detail::ranks::CollectiveCall& call);
  void checkRoot(const char* operation, int root) const;
  /// Returns null while no profiler records.
  detail::ranks::CollectiveDetails* detailsWhileRecording();
  /// Notes in the state of the process that a collective begins, to block or not.
  detail::ranks::CollectiveToken noteStart(const detail::ranks::CollectiveCall& call,
                                           bool blocks) noexcept;

  std::string nodeName_;
  std::shared_ptr<std::string> droppedError_;  // Never null; empty: none was dropped.
  std::chrono::milliseconds timeout_ = std::chrono::minutes(10);
  std::chrono::milliseconds stallWarningAfter_ = std::chrono::minutes(1);
  StallListener stallListener_;
  std::vector<int> jobRanks_;                                  // Empty: unknown.
  std::unique_ptr<detail::ranks::CollectiveDetails> details_;  // Null until a profiler records.
  std::unique_ptr<detail::ranks::GroupState> kept_;            // Null until the first collective.
};

/// Returns the prefix that distinguishes the ranks' messages in one terminal: "[rank 3/8 node] ".
STEPTAPE_EXPORT std::string rankPrefix(const Communicator& communicator);

/// Returns "rank 3 (node)", for messages that name a rank.
STEPTAPE_EXPORT std::string rankAndNode(int rank, std::string_view nodeName);

/// Prints `message` from this rank, with rankPrefix() before each line.
///
/// The whole message is one write to `out`, followed by a flush. So a launcher that merges the
/// ranks' output does not split it, and the last message of a failing rank is visible.
///
/// @threads Thread-safe if `out` is.
STEPTAPE_EXPORT void logFromRank(const Communicator& communicator, std::string_view message,
                                 std::ostream& out);

/// Prints `message` unchanged on the root; does nothing on other ranks. Not collective.
///
/// @threads Thread-safe if `out` is.
STEPTAPE_EXPORT void logFromRoot(const Communicator& communicator, std::string_view message,
                                 std::ostream& out);

}  // namespace steptape
