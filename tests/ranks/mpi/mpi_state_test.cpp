// SPDX-License-Identifier: Apache-2.0
// What the state of each process of a real job tells about its collectives.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "steptape/metrics/hang_watchdog.h"
#include "steptape/mpi.h"
#include "steptape/ranks/testing.h"

#include "process/blackbox/state_page.h"
#include "support/content_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::process::RankState;
using detail::process::StatePage;
using ::testing::HasSubstr;

/// Returns the state of each process of the job, which are all on this node.
class MpiState : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(StatePage::current(), nullptr) << "/dev/shm is no tmpfs";
    numbers_ = world_->allgather(std::to_string(StatePage::current()->box().number));
  }

  RankState stateOf(int rank) const {
    detail::process::BoxName box = StatePage::current()->box();
    box.number = std::stoull(numbers_[static_cast<std::size_t>(rank)]);
    RankState state;
    const Status status = detail::process::readRankState(box, &state);
    EXPECT_TRUE(status.ok()) << status.message();
    return state;
  }

  const std::shared_ptr<Communicator> world_ = world();
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

TEST_F(MpiState, LetsTheWatchdogNameTheRankThatIsBehind) {
  if (world_->size() == 1) {
    return;  // nobody waits
  }
  const testing::TempDir directory;
  std::string report;
  {
    DistributedWriter writer(directory.string(), world_);  // in rank 0's
    HangWatchdogOptions options;
    options.minimum = std::chrono::seconds(2);
    options.onHang = [&](const std::string& text) { report = text; };
    const HangWatchdog watchdog(writer, options);
    for (std::int64_t step = 0; step < 5; ++step) {
      StatePage::current()->noteStep(step);
      world_->barrier();
    }
    if (world_->rank() == world_->size() - 1) {
      const auto hasReported = [&](int rank) {
        return stateOf(rank).lastError.find("no step has ended for ") == 0;
      };
      int rank = 0;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(50);
      while (!hasReported(rank) && std::chrono::steady_clock::now() < deadline) {
        rank = (rank + 1) % world_->size();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
    std::vector<float> data(1000, 1);
    CollectiveOptions gradients;
    gradients.name = "gradients";
    world_->allreduce(data, ReduceOp::kSum, gradients);
  }
  std::string all;
  for (const std::string& text : world_->allgather(report)) {
    all += text;
  }
  const std::string late = "rank " + std::to_string(world_->size() - 1) + " (process ";
  EXPECT_THAT(all, HasSubstr("  rank 0 (process "));
  EXPECT_THAT(all, HasSubstr("in allreduce(sum) 'gradients' #"));
  EXPECT_THAT(all, HasSubstr("  behind: " + late));
}

TEST_F(MpiState, LetsTheRootReportAllRanksIfAFileAsksForIt) {
  const testing::TempDir directory;
  DistributedWriter writer(directory.string(), world_);  // in rank 0's
  const HangWatchdog watchdog(writer);
  world_->barrier();
  if (world_->isRoot()) {
    const std::string request = directory.string() + "/dump_now";
    std::ofstream(request).put('\n');
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(50);
    while (std::filesystem::exists(request) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::string reports;
    for (const auto& entry :
         std::filesystem::directory_iterator(directory.string() + "/black_box")) {
      reports += test::contentOf(entry.path().string());
    }
    for (int rank = 0; rank < world_->size(); ++rank) {
      EXPECT_THAT(reports, HasSubstr("  rank " + std::to_string(rank) + " (process "));
    }
  }
  world_->barrier();
}

}  // namespace
}  // namespace steptape
