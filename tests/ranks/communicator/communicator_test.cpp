// SPDX-License-Identifier: Apache-2.0
#include "steptape/ranks/communicator.h"

#include <sstream>

#include "steptape/ranks/testing.h"

#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;

TEST(Communicator, IsAGroupOfOneRank) {
  const Communicator serial;
  EXPECT_EQ(serial.rank(), 0);
  EXPECT_EQ(serial.size(), 1);
  EXPECT_EQ(serial.localRank(), 0);
  EXPECT_EQ(serial.localSize(), 1);
  EXPECT_TRUE(serial.isRoot());
  EXPECT_FALSE(serial.nodeName().empty());
}

TEST(Communicator, LeavesTheDataOfOneRankUnchanged) {
  Communicator serial;
  float floats[] = {1.5F, -2};
  double doubles[] = {3.5};
  MetricMoments moments[] = {MetricMoments::of(4, 2, 0)};
  serial.allreduce(ArrayView<float>(floats), ReduceOp::kAverage);
  serial.allreduce(ArrayView<double>(doubles), ReduceOp::kMax);
  serial.allreduce(ArrayView<MetricMoments>(moments));
  serial.broadcast(floats, sizeof floats, 0);
  serial.barrier();
  EXPECT_THAT(floats, ElementsAre(1.5F, -2));
  EXPECT_EQ(doubles[0], 3.5);
  EXPECT_EQ(moments[0].mean(), 4);
  EXPECT_THAT(serial.allgather("mine"), ElementsAre("mine"));
}

TEST(Communicator, RefusesARootThatIsNotARank) {
  Communicator serial;
  int value = 0;
  test::expectError(ErrorCode::kInvalidArgument, "broadcast: got root 1; expected 0 to 0",
                    [&] { serial.broadcast(&value, sizeof value, 1); });
  test::expectError(ErrorCode::kInvalidArgument, "got root -1; expected",
                    [&] { serial.broadcast(&value, sizeof value, -1); });
}

TEST(RankLog, PutsRankSizeAndNodeBeforeEachLine) {
  const Communicator serial;
  std::ostringstream out;
  logFromRank(serial, "loss is NaN\nstopping\n", out);
  const std::string prefix = "[rank 0/1 " + serial.nodeName() + "] ";
  EXPECT_EQ(out.str(), prefix + "loss is NaN\n" + prefix + "stopping\n");
}

TEST(RankLog, PrintsForTheJobOnTheRootOnly) {
  testing::runRanks(3, [](Communicator& world) {
    std::ostringstream out;
    logFromRoot(world, "epoch 1", out);
    EXPECT_EQ(out.str(), world.isRoot() ? "epoch 1\n" : "");
  });
}

}  // namespace
}  // namespace steptape
