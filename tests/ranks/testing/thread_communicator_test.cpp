// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "steptape/ranks/communicator.h"
#include "steptape/ranks/testing.h"

#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::testing {
namespace {

using ::steptape::test::expectError;
using ::testing::ElementsAre;

std::string host() {
  return Communicator().nodeName();
}

TEST(RunRanks, RunsEachRankOnce) {
  std::vector<std::atomic<int>> calls(7);
  runRanks(7, [&](Communicator& world) {
    EXPECT_EQ(world.size(), 7);
    EXPECT_EQ(world.localSize(), 7);
    EXPECT_EQ(world.localRank(), world.rank());
    EXPECT_EQ(world.crossRank(), 0);
    EXPECT_EQ(world.crossSize(), 1);
    ++calls[static_cast<std::size_t>(world.rank())];
  });
  for (const std::atomic<int>& count : calls) {
    EXPECT_EQ(count, 1);
  }
}

TEST(RunRanks, TreatsBlocksOfRanksAsNodes) {
  RunRanksOptions options;
  options.ranksPerNode = 2;
  const std::string host = Communicator().nodeName();
  runRanks(
      5,
      [&](Communicator& world) {
        EXPECT_EQ(world.nodeName(), host + "/" + std::to_string(world.rank() / 2));
        EXPECT_EQ(world.localRank(), world.rank() % 2);
        EXPECT_EQ(world.localSize(), world.rank() == 4 ? 1 : 2);
        EXPECT_EQ(world.crossRank(), world.rank() / 2);
        EXPECT_EQ(world.crossSize(), 3);
        // A group counts its own nodes.
        const auto lastThree = world.subgroup({2, 3, 4});
        if (lastThree) {
          EXPECT_EQ(lastThree->crossRank(), world.rank() / 2 - 1);
          EXPECT_EQ(lastThree->crossSize(), 2);
          EXPECT_EQ(lastThree->localRank(), world.localRank());
        }
      },
      options);
}

TEST(RunRanks, SharesMemoryWithinANodeOnly) {
  RunRanksOptions options;
  options.ranksPerNode = 2;
  runRanks(
      4,
      [](Communicator& world) {
        // Sizes may differ between nodes.
        const auto size = 64 * (static_cast<std::size_t>(world.crossRank()) + 1);
        const auto memory = world.allocateNodeMemory(size);
        ASSERT_NE(memory, nullptr);
        memory->data()[world.localRank()] = std::byte{1};
        world.barrier();
        EXPECT_THAT(std::vector<std::byte>(memory->data(), memory->data() + 3),
                    ElementsAre(std::byte{1}, std::byte{1}, std::byte{0}));
        const auto asked = static_cast<std::size_t>(64 + world.localRank());
        expectError(ErrorCode::kRankMismatch, ": got 65 bytes; expected 64 bytes, as on rank 0",
                    [&] { world.allocateNodeMemory(asked); });
      },
      options);
}

TEST(RunRanks, RefusesANegativeNumberOfRanksPerNode) {
  RunRanksOptions options;
  options.ranksPerNode = -1;
  expectError(ErrorCode::kInvalidArgument, "runRanks: got -1 ranks per node; expected 1 or more",
              [&] {
                runRanks(
                    2, [](Communicator&) {}, options);
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

TEST(RunRanks, RethrowsTheCauseNotItsConsequencesOnOtherRanks) {
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
  expectError(ErrorCode::kDeadlineExceeded,
              "barrier on " + rankAndNode(0, host()) + ": " + rankAndNode(1, host()) +
                  " has left and will not arrive",
              [] {
                runRanks(2, [](Communicator& world) {
                  if (world.isRoot()) {
                    world.barrier();
                  }
                });
              });
}

TEST(RunRanks, RefusesAGroupWithoutRanks) {
  expectError(ErrorCode::kInvalidArgument, "runRanks: got 0 ranks; expected at least 1",
              [] { runRanks(0, [](Communicator&) {}); });
}

TEST(RunRanks, WakesRanksThatWaitInAnyGroupOfARankThatLeaves) {
  runRanks(3, [](Communicator& world) {
    const auto copy = world.duplicate()->duplicate();
    const auto memory = world.allocateNodeMemory(1);
    if (world.rank() == 1) {
      return;
    }
    const std::string left = rankAndNode(1, host()) + " has left and will not arrive";
    expectError(ErrorCode::kDeadlineExceeded, left, [&] { copy->barrier(); });
    // The other waiting rank may also have left by now.
    expectError(ErrorCode::kDeadlineExceeded, " has left and will not arrive",
                [&] { memory->checkPeers(); });
  });
}

TEST(RunRanks, CompletesAnOperationAfterOneRankHasLeft) {
  runRanks(3, [](Communicator& world) {
    double data[] = {1};
    CollectiveHandle handle = world.allreduceAsync(data, ReduceOp::kSum);
    handle.wait();
    EXPECT_EQ(data[0], 3);
  });
}

TEST(ThreadCommunicator, NamesTheRanksThatDoNotArriveInTime) {
  std::atomic<int> gaveUp{0};
  runRanks(4, [&](Communicator& world) {
    const std::string missing = rankAndNode(1, host()) + ", " + rankAndNode(3, host());
    double data[] = {1};
    if (world.rank() % 2 == 0) {
      world.setTimeout(std::chrono::milliseconds(20));
      CollectiveHandle handle = world.allreduceAsync(data, ReduceOp::kSum);
      expectError(ErrorCode::kDeadlineExceeded, missing + " did not arrive", [&] {
        if (world.isRoot()) {
          handle.wait();
        } else {
          while (!handle.isDone()) {
            std::this_thread::yield();
          }
        }
      });
      ++gaveUp;
      return;
    }
    const auto bound = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (gaveUp < 2 && std::chrono::steady_clock::now() < bound) {
      std::this_thread::yield();
    }
    expectError(ErrorCode::kDeadlineExceeded,
                "allreduce(sum) of 1 float64: " + missing + " did not arrive within 20 ms",
                [&] { world.allreduce(data, ReduceOp::kSum); });
  });
}

TEST(ThreadCommunicator, NamesWaitingRankOperationAndTime) {
  expectError(ErrorCode::kDeadlineExceeded,
              "barrier 'epoch' did not end within 0.02 s on " + rankAndNode(0, host()) +
                  " of 2: " + rankAndNode(1, host()) + " did not arrive",
              [] {
                std::atomic<bool> hasGivenUp{false};
                runRanks(2, [&](Communicator& world) {
                  world.setTimeout(std::chrono::milliseconds(20));
                  const auto bound = std::chrono::steady_clock::now() + std::chrono::seconds(30);
                  if (world.isRoot()) {
                    CollectiveOptions options;
                    options.name = "epoch";
                    try {
                      world.barrier(options);
                    } catch (const Error&) {
                      hasGivenUp = true;
                      throw;
                    }
                  }
                  while (!hasGivenUp && std::chrono::steady_clock::now() < bound) {
                    std::this_thread::yield();
                  }
                });
              });
}

}  // namespace
}  // namespace steptape::testing
