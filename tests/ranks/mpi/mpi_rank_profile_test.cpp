// SPDX-License-Identifier: Apache-2.0
// The log of a profiler's root about ranks that are processes.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "steptape/process/zone.h"
#include "steptape/profile/profiler.h"
#include "steptape/ranks/mpi_communicator.h"
#include "steptape/ranks/testing.h"

#include "profile/logged_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class MpiRankProfile : public ::testing::Test {
 protected:
  bool isSlow() const { return world_->rank() == world_->size() - 1; }

  /// The last rank takes a hundred times as long as the others, which wait for it.
  void trainStep() {
    {
      STEPTAPE_ZONE("augment");
      std::this_thread::sleep_for(std::chrono::milliseconds(isSlow() ? 50 : 0));
    }
    std::vector<float> gradient(100'000, 1.0F);
    world_->allreduce(gradient, ReduceOp::kSum);
  }

  void train(Profiler& profiler, int steps) {
    for (int i = 0; i < steps; ++i) {
      trainStep();
      profiler.step();
    }
  }

  ProfilerOptions options() {
    ProfilerOptions options;
    options.schedule.active = 2;
    options.schedule.repeat = 1;
    options.firstStep = 100;
    options.detailScalars = true;
    options.communicator = world_;
    if (world_->isRoot()) {
      writer_.emplace(directory_.string());
      options.writer = &*writer_;
    }
    return options;
  }

  /// Returns the root's log.
  LoggedValues logged() {
    writer_.reset();
    return readLogged(directory_.string());
  }

  void expectTheSlowRankIsNamed(const LoggedValues& values) const {
    const int slow = world_->size() - 1;
    EXPECT_THAT(values.texts.at({"profile/operators_by_rank", 102}),
                ContainsRegex("`augment` \\| zone \\| " + std::to_string(2 * world_->size()) +
                              " .* rank " + std::to_string(slow) + " \\("));
    for (const std::int64_t step : {100, 101}) {
      const auto at = [&](const std::string& tag) {
        return values.scalars.at({"profile/straggler/" + tag, step});
      };
      EXPECT_EQ(at("slowest_rank"), static_cast<float>(slow));
      EXPECT_EQ(at("work/slowest_rank"), static_cast<float>(slow));
      EXPECT_EQ(at("other/slowest_rank"), static_cast<float>(slow));
      EXPECT_GE(at("work/max_ms"), 50.0F);
      EXPECT_GT(at("wait/max_ms"), 25.0F);
      EXPECT_GT(at("slowdown"), 1.2F);
    }
    EXPECT_THAT(values.texts.at({"profile/straggler/report", 102}),
                HasSubstr("rank " + std::to_string(slow) + " ("));
  }

  std::shared_ptr<Communicator> world_ = std::make_shared<MpiCommunicator>(MPI_COMM_WORLD);
  testing::TempDir directory_;
  std::optional<SummaryWriter> writer_;
};

TEST_F(MpiRankProfile, NamesTheSlowRankOnceItIsFlushed) {
  {
    Profiler profiler(options());
    train(profiler, 2);
    profiler.stop();
    EXPECT_TRUE(profiler.flush().ok());
  }
  if (world_->isRoot() && world_->size() > 1) {
    expectTheSlowRankIsNamed(logged());
  }
}

TEST_F(MpiRankProfile, NamesTheSlowRankDuringLaterSteps) {
  {
    Profiler profiler(options());
    train(profiler, 40);
  }
  if (world_->isRoot() && world_->size() > 1) {
    expectTheSlowRankIsNamed(logged());
  }
}

TEST_F(MpiRankProfile, ContinuesWhileTheProfilerIsStopped) {
  {
    Profiler profiler(options());
    train(profiler, 2);
    profiler.stop();
    train(profiler, 40);
  }
  if (world_->isRoot() && world_->size() > 1) {
    expectTheSlowRankIsNamed(logged());
  }
}

TEST_F(MpiRankProfile, OmitsWindowsThatAreNotSentByTheEnd) {
  {
    Profiler profiler(options());
    train(profiler, 2);
  }
  if (world_->isRoot()) {
    const LoggedValues values = logged();
    EXPECT_EQ(values.texts.count({"profile/operators", 102}), 1U);
    EXPECT_EQ(values.texts.count({"profile/operators_by_rank", 102}), 0U);
  }
}

TEST_F(MpiRankProfile, SendsNothingIfTheRootLogsNothing) {
  ProfilerOptions unlogged = options();
  unlogged.writer = nullptr;
  Profiler profiler(unlogged);
  train(profiler, 2);
  // Without effect for the others: a collective would wait for ranks that have left.
  if (world_->isRoot()) {
    EXPECT_TRUE(profiler.flush().ok());
  }
}

}  // namespace
}  // namespace steptape
