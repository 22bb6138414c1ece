// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape::detail {
class GroupMap;
}

namespace steptape::testing {

class ThreadGroup;

/// How runRanks() runs its ranks.
struct RunRanksOptions {
  /// Bound on each operation; a body that waits for something else is not bounded.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);

  /// Treats each block of so many consecutive ranks as a node of its own, "host/0", "host/1" and so
  /// on, so that code for several nodes runs in one process. 0: all ranks are on one node.
  int ranksPerNode = 0;
};

/// One rank of a group of threads: tests code for several ranks in one process, without a launcher.
/// Made by runRanks().
///
/// Stricter than MPI, so that a test finds what MPI would only do sometimes: ranks are compared
/// even where CollectiveOptions::compareRanks is off, and a rank that has left makes those who wait
/// for it throw Error(kDeadlineExceeded) at once, not after timeout(), in every group it was in.
/// Results are combined in the order of the ranks: they are the same to the bit on every rank and
/// in every run.
///
/// @threads Not thread-safe: one thread at a time, the rank's own; a duplicate() may be used on
///          another.
class STEPTAPE_EXPORT ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group,
                     std::shared_ptr<const detail::GroupMap> map);
  ~ThreadCommunicator() override;

  int rank() const override;
  int size() const override;
  int localRank() const override;
  int localSize() const override;
  int crossRank() const override;
  int crossSize() const override;
  const std::string& nodeName() const override;

  std::shared_ptr<Communicator> split(int color, int key) override;
  std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes,
                                                 std::string* why = nullptr) override;

 protected:
  std::unique_ptr<detail::PendingCollective> start(const detail::CollectiveCall& call) override;

 private:
  std::string nextKey(const std::string& what);

  std::shared_ptr<ThreadGroup> group_;
  std::shared_ptr<const detail::GroupMap> map_;
  std::size_t shared_ = 0;  // How many objects this rank has shared with others.
};

/// Runs `body` once per rank, each on a thread of its own, and returns when all have ended.
///
///     steptape::testing::runRanks(3, [](steptape::Communicator& world) {
///       EXPECT_EQ(steptape::metricAverage(world, world.rank(), 1), 1.0);
///     });
///
/// @param count   Number of ranks, at least 1.
/// @param body    Gets the rank's communicator, which lives until all ranks have ended.
/// @param timeout As RunRanksOptions::timeout.
/// @throws what a rank threw, after all have ended: of several, that of the lowest rank, where an
///         exception that only tells of another rank's end comes last. Error(kInvalidArgument) if
///         `count` is less than 1.
STEPTAPE_EXPORT void runRanks(int count, const std::function<void(Communicator&)>& body,
                              std::chrono::milliseconds timeout = std::chrono::seconds(30));
STEPTAPE_EXPORT void runRanks(int count, const std::function<void(Communicator&)>& body,
                              const RunRanksOptions& options);

/// As above, for code that keeps its communicator, such as DistributedWriter.
STEPTAPE_EXPORT void runRanksShared(
    int count, const std::function<void(const std::shared_ptr<Communicator>&)>& body,
    std::chrono::milliseconds timeout = std::chrono::seconds(30));
STEPTAPE_EXPORT void runRanksShared(
    int count, const std::function<void(const std::shared_ptr<Communicator>&)>& body,
    const RunRanksOptions& options);

}  // namespace steptape::testing
