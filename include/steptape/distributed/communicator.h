// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/span.h"
#include "steptape/distributed/metric_moments.h"

namespace steptape {

/// How allreduce() combines the ranks' elements.
enum class ReduceOp {
  kSum,
  kAverage,  ///< The sum divided by size().
  kMin,
  kMax,
};

/// A group of ranks that call the same operations in the same order.
///
/// This class itself is the serial group: one rank, every operation a no-op that is correct for one
/// rank. Code written against it runs without a launcher; MpiCommunicator overrides it for real
/// groups and testing::ThreadCommunicator for groups of threads.
///
/// Every operation below is collective: all ranks call it, in the same order, with equal sizes.
/// Each has a bound, timeout(): a rank that does not come makes the others throw
/// Error(kDeadlineExceeded) that names the operation, instead of hanging.
///
/// @threads Not thread-safe: one thread at a time, the one that may call MPI.
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
  /// The host's name, for messages and logs.
  virtual const std::string& nodeName() const;
  bool isRoot() const { return rank() == 0; }

  /// Combines `data` element by element over all ranks; every rank gets the result in place.
  virtual void allreduce(Span<float> data, ReduceOp op);
  virtual void allreduce(Span<double> data, ReduceOp op);
  /// Combines moments with MetricMoments::merge().
  virtual void allreduce(Span<MetricMoments> data);

  /// Replaces `bytes` bytes at `data` by those of `root`; sizes must agree.
  ///
  /// @throws Error(kInvalidArgument) if `root` is not a rank.
  virtual void broadcast(void* data, std::size_t bytes, int root);

  /// Every rank's bytes, by rank; the sizes may differ.
  virtual std::vector<std::string> allgather(std::string_view bytes);

  /// Returns when every rank has come here.
  virtual void barrier();

  /// How long an operation waits for the other ranks. Default 10 minutes. After an operation has
  /// run out of time the group is out of step: no further operation can succeed.
  std::chrono::milliseconds timeout() const { return timeout_; }
  void setTimeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

 protected:
  /// @throws Error(kInvalidArgument) if `root` is not one of this group's ranks.
  void checkRoot(int root) const;

 private:
  std::string nodeName_;
  std::chrono::milliseconds timeout_ = std::chrono::minutes(10);
};

}  // namespace steptape
