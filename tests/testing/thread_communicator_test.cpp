// SPDX-License-Identifier: Apache-2.0
#include "steptape/testing/thread_communicator.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "distributed/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::testing {
namespace {

using ::steptape::test::expectError;
using ::testing::ElementsAre;
using ::testing::StartsWith;

class ThreadCommunicatorOnRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ThreadCommunicatorOnRanks, ::testing::Values(1, 2, 3, 7));

TEST_P(ThreadCommunicatorOnRanks, NumbersItsRanks) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(GetParam()));
  runRanks(GetParam(), [&](Communicator& world) {
    EXPECT_EQ(world.size(), GetParam());
    EXPECT_EQ(world.localSize(), GetParam());
    EXPECT_EQ(world.localRank(), world.rank());
    ++calls[static_cast<std::size_t>(world.rank())];
  });
  for (const std::atomic<int>& count : calls) {
    EXPECT_EQ(count, 1);
  }
}

TEST_P(ThreadCommunicatorOnRanks, CombinesByEveryOperation) {
  const int last = GetParam() - 1;
  runRanks(GetParam(), [&](Communicator& world) {
    const auto allreduce = [&](ReduceOp op) {
      float single[] = {static_cast<float>(world.rank())};
      double twice[] = {2.0 * world.rank()};
      world.allreduce(Span<float>(single), op);
      world.allreduce(Span<double>(twice), op);
      EXPECT_EQ(twice[0], 2.0 * single[0]);
      return twice[0];
    };
    EXPECT_EQ(allreduce(ReduceOp::kSum), last * (last + 1));
    EXPECT_EQ(allreduce(ReduceOp::kAverage), last);
    EXPECT_EQ(allreduce(ReduceOp::kMin), 0);
    EXPECT_EQ(allreduce(ReduceOp::kMax), 2 * last);
  });
}

TEST_P(ThreadCommunicatorOnRanks, MergesMoments) {
  runRanks(GetParam(), [](Communicator& world) {
    MetricMoments moments[] = {MetricMoments::of(world.rank(), 1, world.rank())};
    world.allreduce(Span<MetricMoments>(moments));
    EXPECT_EQ(moments[0].weight, world.size());
    EXPECT_EQ(moments[0].maxRank, world.size() - 1);
  });
}

TEST_P(ThreadCommunicatorOnRanks, BroadcastsFromTheLastRank) {
  runRanks(GetParam(), [](Communicator& world) {
    std::string data = world.rank() == world.size() - 1 ? "root" : "????";
    world.broadcast(data.data(), data.size(), world.size() - 1);
    EXPECT_EQ(data, "root");
  });
}

TEST_P(ThreadCommunicatorOnRanks, GathersBytesOfDifferentSizes) {
  runRanks(GetParam(), [](Communicator& world) {
    const auto size = static_cast<std::size_t>(world.rank());
    const std::vector<std::string> all = world.allgather(std::string(size, 'x'));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(world.size()));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      EXPECT_EQ(all[rank], std::string(rank, 'x'));
    }
  });
}

TEST(ThreadCommunicator, WaitsForAllAtABarrier) {
  std::atomic<int> arrived{0};
  runRanks(4, [&](Communicator& world) {
    for (int round = 1; round <= 50; ++round) {
      ++arrived;
      world.barrier();
      EXPECT_EQ(arrived, 4 * round);
      world.barrier();
    }
  });
}

TEST(RunRanks, RethrowsTheCauseAndNotWhatItCausedInOthers) {
  try {
    runRanks(3, [](Communicator& world) {
      if (world.rank() == 2) {
        throw std::runtime_error("rank 2 fails");
      }
      world.barrier();
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "rank 2 fails");
  }
}

TEST(RunRanks, RethrowsTheFailureOfTheLowestRank) {
  expectError(ErrorCode::kIoError, "rank 1 fails", [] {
    runRanks(3, [](Communicator& world) {
      if (world.rank() > 0) {
        throw Error(ErrorCode::kIoError, "rank " + std::to_string(world.rank()) + " fails");
      }
    });
  });
}

TEST(RunRanks, DoesNotLetARankWaitForOneThatHasLeft) {
  expectError(ErrorCode::kDeadlineExceeded, "rank 0 in barrier: rank 1 has left and will not come",
              [] {
                runRanks(2, [](Communicator& world) {
                  if (world.isRoot()) {
                    world.barrier();
                  }
                });
              });
}

TEST(RunRanks, RefusesAGroupWithoutRanks) {
  expectError(ErrorCode::kInvalidArgument, "runRanks: got 0 ranks, want at least 1",
              [] { runRanks(0, [](Communicator&) {}); });
}

TEST(ThreadCommunicator, NamesTheRankThatDoesNotComeInTime) {
  runRanksShared(2, [](const std::shared_ptr<Communicator>& world) {
    static std::atomic<bool> hasTimedOut{false};
    if (world->isRoot()) {
      world->setTimeout(std::chrono::milliseconds(20));
      expectError(ErrorCode::kDeadlineExceeded,
                  "rank 0 in barrier: rank 1 did not come within 20 ms", [&] { world->barrier(); });
      hasTimedOut = true;
      return;
    }
    const auto bound = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!hasTimedOut && std::chrono::steady_clock::now() < bound) {
      std::this_thread::yield();
    }
    EXPECT_TRUE(hasTimedOut);
    expectError(ErrorCode::kDeadlineExceeded, "did not come within 20 ms",
                [&] { world->barrier(); });
  });
}

TEST(ThreadCommunicator, TellsAllRanksThatTheyMeetInDifferentOperations) {
  runRanks(2, [](Communicator& world) {
    expectError(ErrorCode::kRankMismatch,
                "ranks meet in different operations: rank 0 in barrier, rank 1 in allgather", [&] {
                  if (world.isRoot()) {
                    world.barrier();
                  } else {
                    world.allgather("bytes");
                  }
                });
  });
}

TEST(ThreadCommunicator, TellsAllRanksThatTheirSizesDiffer) {
  runRanks(2, [](Communicator& world) {
    std::vector<float> data(world.isRoot() ? 3 : 4);
    expectError(ErrorCode::kRankMismatch,
                "rank 0 in allreduce(sum) of 3 float, rank 1 in allreduce(sum) of 4 float",
                [&] { world.allreduce(Span<float>(data), ReduceOp::kSum); });
    world.barrier();
  });
}

}  // namespace
}  // namespace steptape::testing
