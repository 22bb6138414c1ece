// SPDX-License-Identifier: Apache-2.0
// What the state of each process of a real job tells about its collectives.

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "steptape/mpi.h"

#include "blackbox/state_page.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::RankState;
using detail::StatePage;

/// Returns the state of each process of the job, which are all on this node.
class MpiState : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(StatePage::current(), nullptr) << "/dev/shm is no tmpfs";
    numbers_ = world_->allgather(std::to_string(StatePage::current()->box().number));
  }

  RankState stateOf(int rank) const {
    detail::BoxName box = StatePage::current()->box();
    box.number = std::stoull(numbers_[static_cast<std::size_t>(rank)]);
    RankState state;
    const Status status = detail::readRankState(box, &state);
    EXPECT_TRUE(status.ok()) << status.message();
    return state;
  }

  const std::shared_ptr<Communicator> world_ = mpi::world();
  std::vector<std::string> numbers_;
};

TEST_F(MpiState, HasTheRankOfEachProcess) {
  for (int rank = 0; rank < world_->size(); ++rank) {
    EXPECT_EQ(stateOf(rank).rank, rank);
    EXPECT_EQ(stateOf(rank).worldSize, world_->size());
  }
  world_->barrier();
}

TEST_F(MpiState, ShowsWhoWaitsInACollectiveAndWhoIsBehind) {
  if (world_->size() == 1) {
    return;  // nobody waits
  }
  const int late = world_->size() - 1;
  CollectiveOptions options;
  options.name = "gradients";
  std::vector<float> data(1000, 1);
  if (world_->rank() == late) {
    for (int rank = 0; rank < late; ++rank) {
      RankState state;
      const auto isWaiting = [&] {
        state = stateOf(rank);
        return !state.collectives.empty() && !state.collectives.back().isUncertain &&
               state.collectives.back().name == "allreduce(sum) 'gradients'" &&
               state.collectives.back().phase == RankState::CollectivePhase::kWaiting;
      };
      while (!isWaiting()) {
        std::this_thread::yield();
      }
      const RankState::Collective& waited = state.collectives.back();
      EXPECT_EQ(waited.bytes, 4000);
      EXPECT_EQ(waited.type, "float32");
      bool isSame = false;
      for (const RankState::Group& group : stateOf(late).groups) {
        isSame = isSame || (group.id == waited.group && group.started + 1 == waited.sequence &&
                            group.rank == late && group.size == world_->size());
      }
      EXPECT_TRUE(isSame) << "the late rank has the same group, and is one collective behind";
    }
  }
  world_->allreduce(data, ReduceOp::kSum, options);
  const RankState own = stateOf(world_->rank());
  EXPECT_EQ(own.collectives.back().phase, RankState::CollectivePhase::kCompleted);
  world_->barrier();
}

}  // namespace
}  // namespace steptape
