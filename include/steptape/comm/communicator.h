// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/comm/collective.h"
#include "steptape/comm/metric_moments.h"
#include "steptape/comm/node_memory.h"

namespace steptape {
namespace detail {
class CollectiveDetails;
struct CollectiveCall;
}  // namespace detail

/// A group of ranks that call the same operations in the same order.
///
/// This class itself is the serial group: one rank, every operation correct for one rank. Code
/// written against it runs without a launcher; MpiCommunicator overrides it for real groups and
/// testing::ThreadCommunicator for groups of threads.
///
/// Every operation below is collective: all ranks call it, in the same order, with equal sizes
/// unless it says that they may differ. The ranks compare what they are in, see CollectiveOptions:
/// where they disagree, every rank throws the same Error(kRankMismatch) that names the first rank
/// which differs, with its operation. The data was not touched, and the group can be used further:
/// each rank has spent one operation, and its next one meets the next one of the others. Each has a
/// bound, timeout(): a rank that does not come makes the others throw Error(kDeadlineExceeded)
/// naming it.
///
/// The calls that end in `Async` return at once; see CollectiveHandle.
///
/// While a profiler records, each operation is a span of SpanKind::kCollective, named as PyTorch
/// names it for Gloo whatever carries it, such as "gloo:all_reduce", because viewers know no
/// others; its details tell type, size and group, and CollectiveOptions::name. Within it, "wait for
/// ranks", of SpanKind::kWait, is the time until all ranks had come, and the rest moves the data.
/// It is left out where ranks are not compared. An `Async` one is a detached span, up to the call
/// that found it ended; while wait() blocks, the thread has a span "wait for gloo:all_reduce".
///
/// @threads Not thread-safe: one thread at a time, the one that may call MPI. A second thread uses
///          a duplicate() where worksOnAnyThread() is true.
class STEPTAPE_EXPORT Communicator {
 public:
  Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator();

  virtual int rank() const;
  virtual int size() const;
  /// This rank's number among the ranks of its node, for choosing a device.
  virtual int localRank() const;
  virtual int localSize() const;
  /// The node's number, by the lowest rank on it, and how many nodes there are.
  virtual int crossRank() const;
  virtual int crossSize() const;
  /// The host's name, for messages and logs.
  virtual const std::string& nodeName() const;
  bool isRoot() const { return rank() == 0; }

  /// Combines `data` element by element over all ranks; every rank gets the result in place.
  ///
  /// float16 and bfloat16 are added up in float32, in the order of the ranks, and rounded once.
  /// Sums and products of integers wrap around.
  ///
  /// @throws Error(kInvalidArgument) for the average of integers, or of bool; for null data.
  void allreduce(Elements data, ReduceOp op, const CollectiveOptions& options = {});
  CollectiveHandle allreduceAsync(Elements data, ReduceOp op,
                                  const CollectiveOptions& options = {});
  /// As above, leaving `from` as it is. @throws Error(kInvalidArgument) if `to` has another size or
  /// type, or overlaps it in part.
  void allreduce(Elements from, Elements to, ReduceOp op, const CollectiveOptions& options = {});
  CollectiveHandle allreduceAsync(Elements from, Elements to, ReduceOp op,
                                  const CollectiveOptions& options = {});
  /// Several arrays in one operation, as one array that lies in pieces. All of one type.
  void allreduceGrouped(const std::vector<Elements>& group, ReduceOp op,
                        const CollectiveOptions& options = {});
  CollectiveHandle allreduceGroupedAsync(const std::vector<Elements>& group, ReduceOp op,
                                         const CollectiveOptions& options = {});
  /// Combines moments with MetricMoments::merge().
  void allreduce(ArrayView<MetricMoments> data, const CollectiveOptions& options = {});
  CollectiveHandle allreduceAsync(ArrayView<MetricMoments> data,
                                  const CollectiveOptions& options = {});
  /// As above, leaving `from` as it is. @throws Error(kInvalidArgument) if `to` has another size or
  /// overlaps it.
  CollectiveHandle allreduceAsync(ArrayView<const MetricMoments> from, ArrayView<MetricMoments> to,
                                  const CollectiveOptions& options = {});

  /// Combines as allreduce() does, and gives each rank one part of the result.
  ///
  /// @param from All parts one behind the other, by rank; its size is the sum of the parts' sizes.
  /// @param to   This rank's part. The parts' sizes may differ. Outside of `from`.
  /// @throws Error(kRankMismatch) on all ranks if the parts together are not as many as `from`.
  void reduceScatter(Elements from, Elements to, ReduceOp op,
                     const CollectiveOptions& options = {});
  CollectiveHandle reduceScatterAsync(Elements from, Elements to, ReduceOp op,
                                      const CollectiveOptions& options = {});

  /// Replaces `bytes` bytes at `data` by those of `root`; sizes must agree.
  ///
  /// @throws Error(kInvalidArgument) if `root` is not a rank.
  void broadcast(void* data, std::size_t bytes, int root, const CollectiveOptions& options = {});
  CollectiveHandle broadcastAsync(void* data, std::size_t bytes, int root,
                                  const CollectiveOptions& options = {});
  /// The root's bytes, whose number only the root knows.
  std::string broadcastObject(std::string_view bytes, int root,
                              const CollectiveOptions& options = {});

  /// Every rank's bytes, by rank; the sizes may differ.
  std::vector<std::string> allgather(std::string_view bytes, const CollectiveOptions& options = {});
  /// `gathered` must live until the handle has ended.
  CollectiveHandle allgatherAsync(std::string_view bytes, std::vector<std::string>& gathered,
                                  const CollectiveOptions& options = {});
  /// As allgather(), for `root` only; empty elsewhere.
  std::vector<std::string> gatherObject(std::string_view bytes, int root,
                                        const CollectiveOptions& options = {});

  /// Sends `toRank[r]` to rank r. The sizes may differ. @return what came, by rank.
  ///
  /// @throws Error(kInvalidArgument) unless there is one entry per rank.
  std::vector<std::string> alltoall(const std::vector<std::string>& toRank,
                                    const CollectiveOptions& options = {});
  /// `toRank` and `fromRank` must live until the handle has ended.
  CollectiveHandle alltoallAsync(const std::vector<std::string>& toRank,
                                 std::vector<std::string>& fromRank,
                                 const CollectiveOptions& options = {});

  /// Returns when every rank has come here.
  void barrier(const CollectiveOptions& options = {});

  /// The ranks that give the same `color` as a group of their own, in the order of `key` and, where
  /// keys are equal, of rank. Takes over timeout() and the warning.
  ///
  /// @param color At least 0; -1 for a rank that goes into no group and gets null.
  virtual std::shared_ptr<Communicator> split(int color, int key);
  /// The group of `ranks`, in their order; null on the others. Called by all ranks.
  ///
  /// @throws Error(kInvalidArgument) if one is no rank or comes twice.
  std::shared_ptr<Communicator> subgroup(const std::vector<int>& ranks);
  /// The same ranks with messages of their own, which never mix with those of this group.
  std::shared_ptr<Communicator> duplicate();

  /// Whether a duplicate() may be used on another thread while this group is used on this one. The
  /// same on all ranks.
  virtual bool worksOnAnyThread() const;

  /// Memory that all ranks of this rank's node share. All ranks of the group call it; `bytes` is
  /// equal on the ranks of a node.
  ///
  /// @return null on every rank of the group if one node has not that much: then `why` says on
  ///         which and why not, on every rank.
  virtual std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes,
                                                         std::string* why = nullptr);

  /// How long an operation waits for the other ranks, from the first wait() or isDone() that finds
  /// it on its way. Default 10 minutes. After an operation has run out of time the group is out of
  /// step: no further operation can succeed.
  std::chrono::milliseconds timeout() const { return timeout_; }
  void setTimeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  /// After which wait a rank warns, once per operation, naming operation and missing ranks, and
  /// whom it tells. Default: one minute, on stderr behind rankPrefix(). `after` 0: never. Groups
  /// and memory made from this one take the warning over as it is then.
  using StallListener = std::function<void(const std::string& warning)>;
  void setStallWarning(std::chrono::milliseconds after, StallListener listener = {});
  std::chrono::milliseconds stallWarningAfter() const { return stallWarningAfter_; }

 protected:
  /// Starts a collective whose arguments are fine. Not called for groups of one rank.
  virtual std::unique_ptr<detail::PendingCollective> start(const detail::CollectiveCall& call);

  /// Tells the listener that a collective waits.
  void warnOfStall(const std::string& warning) const;
  /// Tells traces which ranks of the job the group is, in its order. To be called before the first
  /// operation; without it they say nothing of it.
  void setJobRanks(std::vector<int> ranks) { jobRanks_ = std::move(ranks); }
  /// Hands timeout() and the warning on to a group made from this one.
  void shareSettings(Communicator& child) const;
  /// Hands the warning on to memory made from this one, which may outlive it.
  void shareSettings(NodeMemory& memory) const;
  /// For a communicator that hands its collectives on: starts one on `other`.
  ///
  /// @return null if it has ended, as it does at once in a group of one rank.
  static std::unique_ptr<detail::PendingCollective> startOn(Communicator& other,
                                                            const detail::CollectiveCall& call);

 private:
  std::unique_ptr<detail::PendingCollective> beginPacked(const detail::CollectiveCall& call);
  /// As beginPacked(), and puts the result of a grouped one back into its arrays.
  std::unique_ptr<detail::PendingCollective> begin(const detail::CollectiveCall& call);
  void run(const detail::CollectiveCall& call);
  CollectiveHandle post(const detail::CollectiveCall& call);
  void checkRoot(const char* operation, int root) const;
  /// Null while no profiler records.
  detail::CollectiveDetails* detailsWhileRecording();

  std::string nodeName_;
  std::shared_ptr<std::string> droppedError_;  // Never null; empty: none was dropped.
  std::chrono::milliseconds timeout_ = std::chrono::minutes(10);
  std::chrono::milliseconds stallWarningAfter_ = std::chrono::minutes(1);
  StallListener stallListener_;
  std::vector<int> jobRanks_;                           // Empty: unknown.
  std::unique_ptr<detail::CollectiveDetails> details_;  // Null until a profiler records.
};

}  // namespace steptape
