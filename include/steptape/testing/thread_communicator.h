// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/distributed/communicator.h"

namespace steptape::testing {

class ThreadGroup;

/// One rank of a group of threads: tests code for several ranks in one process, without a launcher.
/// Made by runRanks().
///
/// Stricter than MPI, so that a test finds what MPI would only do sometimes: ranks that call
/// different operations or pass different sizes all get Error(kRankMismatch), and a rank that has
/// left makes those who wait for it throw Error(kDeadlineExceeded) at once, not after timeout().
/// Results are combined in the order of the ranks: they are the same to the bit on every rank and
/// in every run.
///
/// @threads Not thread-safe: one thread at a time, the rank's own.
class STEPTAPE_EXPORT ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int rank);
  ~ThreadCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override;
  int localRank() const override { return rank_; }
  int localSize() const override { return size(); }

  void allreduce(Span<float> data, ReduceOp op) override;
  void allreduce(Span<double> data, ReduceOp op) override;
  void allreduce(Span<MetricMoments> data) override;
  void broadcast(void* data, std::size_t bytes, int root) override;
  std::vector<std::string> allgather(std::string_view bytes) override;
  void barrier() override;

 private:
  std::shared_ptr<ThreadGroup> group_;
  int rank_;
};

/// Runs `body` once per rank, each on a thread of its own, and returns when all have ended.
///
///     steptape::testing::runRanks(3, [](steptape::Communicator& world) {
///       EXPECT_EQ(steptape::metricAverage(world, world.rank(), 1), 1.0);
///     });
///
/// @param count   Number of ranks, at least 1.
/// @param body    Gets the rank's communicator, which lives until all ranks have ended.
/// @param timeout Bound on each operation; a `body` that waits for something else is not bounded.
/// @throws what a rank threw, after all have ended: of several, that of the lowest rank, where an
///         exception that only tells of another rank's end comes last. Error(kInvalidArgument) if
///         `count` is less than 1.
STEPTAPE_EXPORT void runRanks(int count, const std::function<void(Communicator&)>& body,
                              std::chrono::milliseconds timeout = std::chrono::seconds(30));

/// As above, for code that keeps its communicator, such as DistributedWriter.
STEPTAPE_EXPORT void runRanksShared(
    int count, const std::function<void(const std::shared_ptr<Communicator>&)>& body,
    std::chrono::milliseconds timeout = std::chrono::seconds(30));

}  // namespace steptape::testing
