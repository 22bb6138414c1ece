// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace steptape::detail::ranks {
class GroupMap;
}

namespace steptape::testing {

class ThreadGroup;

/// Options of runRanks().
struct RunRanksOptions {
  /// Time limit of each operation. Waits in the body for anything else have no limit.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);

  /// Treats each block of this many consecutive ranks as a node: "host/0", "host/1" and so on. Lets
  /// code for several nodes run in one process. 0: all ranks are on one node.
  int ranksPerNode = 0;
};

/// A rank that is a thread, for testing code for several ranks in one process without a launcher.
/// Made by runRanks().
///
/// Stricter than MPI, so that a test always finds errors that MPI detects only sometimes. Ranks are
/// compared even if CollectiveOptions::compareRanks is false. If a rank has ended, ranks that wait
/// for it in any group throw Error(kDeadlineExceeded) immediately instead of after timeout().
/// Results are combined in the order of the ranks: bit-identical on every rank and in every run.
///
/// @threads Not thread-safe: one thread at a time, the rank's own. Another thread may use a
///         duplicate().
class STEPTAPE_EXPORT ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group,
                     std::shared_ptr<const detail::ranks::GroupMap> map);
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
  std::unique_ptr<detail::ranks::PendingCollective> start(
      const detail::ranks::CollectiveCall& call) override;

 private:
  std::string nextKey(const std::string& what);

  std::shared_ptr<ThreadGroup> group_;
  std::shared_ptr<const detail::ranks::GroupMap> map_;
  std::size_t shared_ = 0;  // Number of objects this rank has shared with others.
};

/// Runs `body` once per rank, each on its own thread, and returns when all have ended.
///
///     steptape::testing::runRanks(3, [](steptape::Communicator& world) {
///       EXPECT_EQ(steptape::metricAverage(world, world.rank(), 1), 1.0);
///     });
///
/// @param count   Number of ranks, at least 1.
/// @param body    Gets the rank's communicator, which lives until all ranks have ended.
/// @param timeout As RunRanksOptions::timeout.
/// @throws the exception of a rank, after all ranks have ended. If several ranks threw, the one of
///         the lowest rank, preferring exceptions that do not merely report the end of another
///         rank. Error(kInvalidArgument) if `count` is less than 1.
STEPTAPE_EXPORT void runRanks(int count, const std::function<void(Communicator&)>& body,
                              std::chrono::milliseconds timeout = std::chrono::seconds(30));
STEPTAPE_EXPORT void runRanks(int count, const std::function<void(Communicator&)>& body,
                              const RunRanksOptions& options);

/// Like runRanks(), for code that keeps its communicator, such as DistributedWriter.
STEPTAPE_EXPORT void runRanksShared(
    int count, const std::function<void(const std::shared_ptr<Communicator>&)>& body,
    std::chrono::milliseconds timeout = std::chrono::seconds(30));
STEPTAPE_EXPORT void runRanksShared(
    int count, const std::function<void(const std::shared_ptr<Communicator>&)>& body,
    const RunRanksOptions& options);

}  // namespace steptape::testing

namespace steptape::testing {

/// A clock that stands still until a test moves it, so that files are byte-identical in every run.
///
///     auto clock = std::make_shared<steptape::testing::FakeClock>(1700000000.0);
///     steptape::WriterOptions options;
///     options.clock = clock;
///
/// @threads Thread-safe.
class STEPTAPE_EXPORT FakeClock final : public Clock {
 public:
  /// @param wallSeconds Initial wall time in seconds since 1970. The steady time starts at 0.
  explicit FakeClock(double wallSeconds = 0) : wallSeconds_(wallSeconds) {}

  double wallSeconds() const override { return wallSeconds_.load(); }
  std::int64_t steadyNanos() const override { return steadyNanos_.load(); }

  /// Sets the wall time, even to an earlier one, as an administrator or NTP may do. The steady time
  /// does not change.
  void setWallSeconds(double wallSeconds) { wallSeconds_ = wallSeconds; }

  /// Advances both clocks.
  ///
  /// @param duration Not negative: steady time never goes back.
  /// @throws Error(kInvalidArgument) if `duration` is negative.
  void advance(std::chrono::nanoseconds duration);

 private:
  std::atomic<double> wallSeconds_;
  std::atomic<std::int64_t> steadyNanos_{0};
};

}  // namespace steptape::testing

namespace steptape::testing {

/// A new, empty directory that is removed with all its contents at the end of the scope.
///
/// It lies in the operating system's directory for temporary files (`TMPDIR`) and has a unique
/// name, so tests may run in parallel.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT TempDir {
 public:
  /// @throws Error(kIoError) if the directory cannot be created.
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  /// Removes the directory; never throws.
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }
  /// Returns the path as a string, as writers and readers take it.
  std::string string() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace steptape::testing
