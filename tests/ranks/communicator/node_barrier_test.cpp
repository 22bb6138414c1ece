// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/node_barrier.h"

#include <string>

#include "steptape/ranks/communicator.h"

#include "support/expect_error.h"

#include <gtest/gtest.h>

// The contract tests on threads and processes that it blocks and releases ranks.
namespace steptape {
namespace {

using detail::ranks::NodeBarrier;
using test::expectError;

/// Records warnings; its peers end when they are checked.
class WatchedMemory final : public NodeMemory {
 public:
  WatchedMemory() : NodeMemory(reinterpret_cast<std::byte*>(lines_), sizeof lines_) {}

  void checkPeers() const override {
    if (peersHaveEnded) {
      throw Error(ErrorCode::kDeadlineExceeded, "rank 9 (node3) has ended");
    }
  }
  void reportGivenUp(const std::string& why) override { givenUp = why; }

  bool peersHaveEnded = false;
  std::string givenUp;

 private:
  alignas(64) char lines_[4 * 64] = {};
};

TEST(NodeBarrier, NamesTheMissingLocalRanks) {
  WatchedMemory memory;
  NodeBarrier barrier(memory, 64, 1, 3);
  const std::string why =
      "slice 3: local rank 0, local rank 2 did not arrive within 0.03 s to local rank 1";
  expectError(ErrorCode::kDeadlineExceeded, why,
              [&] { barrier.arriveAndWait(std::chrono::milliseconds(30), "slice 3"); });
  EXPECT_EQ(memory.givenUp, why);
}

TEST(NodeBarrier, NeverWarnsIfTheMemoryHasNoWarningTime) {
  WatchedMemory memory;
  EXPECT_EQ(memory.stallWarningAfter().count(), 0);
  EXPECT_EQ(memory.nameOfLocalRank(2), "local rank 2");
  NodeBarrier barrier(memory, 0, 0, 2);
  EXPECT_THROW(barrier.arriveAndWait(std::chrono::milliseconds(30), "slice 3"), Error);
}

TEST(NodeBarrier, DoesNotWaitForARankThatHasEnded) {
  WatchedMemory memory;
  memory.peersHaveEnded = true;
  NodeBarrier barrier(memory, 0, 0, 2);
  expectError(ErrorCode::kDeadlineExceeded, "slice 3: rank 9 (node3) has ended",
              [&] { barrier.arriveAndWait(std::chrono::minutes(10), "slice 3"); });
  EXPECT_EQ(memory.givenUp, "slice 3: rank 9 (node3) has ended");
}

TEST(NodeBarrier, ReusesTheMemoryOfAnEarlierBarrier) {
  WatchedMemory memory;
  for (int lifetime = 0; lifetime < 2; ++lifetime) {
    NodeBarrier barrier(memory, 0, 0, 1);
    EXPECT_NO_THROW(barrier.arriveAndWait(std::chrono::milliseconds(0), "alone"));
  }
  NodeBarrier first(memory, 0, 0, 1);
  NodeBarrier second(memory, 64, 0, 1);
  EXPECT_NO_THROW(second.arriveAndWait(std::chrono::milliseconds(0), "apart"));
}

TEST(NodeBarrier, RefusesBytesOutsideOfTheMemory) {
  WatchedMemory memory;
  EXPECT_EQ(NodeBarrier::bytesFor(3), 3U * 64);
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  expectError(invalid, "NodeBarrier: got 192 bytes at offset 128 of 256; expected bytes within",
              [&] { NodeBarrier barrier(memory, 128, 0, 3); });
  expectError(
      invalid,
      "NodeBarrier: got 64 bytes at offset 8 of 256; expected bytes within the memory, at a "
      "multiple of 64",
      [&] { NodeBarrier barrier(memory, 8, 0, 1); });
}

}  // namespace
}  // namespace steptape
