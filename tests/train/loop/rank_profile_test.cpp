// SPDX-License-Identifier: Apache-2.0
// A Trainer's log about profiles of ranks that are processes.
#include <chrono>
#include <string>
#include <thread>

#include "steptape/process/zone.h"
#include "steptape/ranks/mpi_communicator.h"

#include "profile/logged_values.h"
#include "train/loop/training_fixture.h"

namespace steptape::test {
namespace {

using ::testing::HasSubstr;

class TrainingRankProfile : public Training {
 protected:
  /// Trains 24 steps, in which the last rank is slow; returns the root's log.
  LoggedValues train(TrainerOptions options) {
    Run run;
    run.writer = DistributedWriterOptions();
    run.options = std::move(options);
    run.options.histograms = false;
    run.options.maxSteps = 24;
    run.options.epochs = 100;
    run.options.loss = [this](const at::Tensor& output, const at::Tensor& targets) {
      STEPTAPE_ZONE("judge");
      std::this_thread::sleep_for(std::chrono::milliseconds(world_->rank() == slowRank() ? 20 : 0));
      return torch::nll_loss(output, targets);
    };
    fit(world_, run);
    return world_->isRoot() ? readLogged(logDir()) : LoggedValues();
  }

  int slowRank() const { return world_->size() - 1; }

  /// Expects that all tables name the slow rank, if any does.
  void expectTablesNameTheSlowRank(const LoggedValues& values) const {
    int tables = 0;
    for (const auto& [key, text] : values.texts) {
      if (key.first == "profile/operators_by_rank") {
        ++tables;
        EXPECT_THAT(text, HasSubstr("`judge`"));
        EXPECT_THAT(text, HasSubstr("rank " + std::to_string(slowRank()) + " ("));
      }
    }
    EXPECT_GT(tables, 0);
  }

  World world_ = std::make_shared<MpiCommunicator>(MPI_COMM_WORLD);
};

TEST_F(TrainingRankProfile, NamesTheSlowRankOfTheProfiledSteps) {
  TrainerOptions options;
  options.detailScalars = true;
  options.profiledSteps = 2;
  const LoggedValues values = train(options);
  if (!world_->isRoot()) {
    return;
  }
  if (world_->size() == 1) {
    EXPECT_EQ(values.texts.count({"profile/operators_by_rank", 0}), 0U);
    return;
  }
  expectTablesNameTheSlowRank(values);
  int steps = 0;
  for (const auto& [key, value] : values.scalars) {
    if (key.first == "profile/straggler/slowest_rank") {
      ++steps;
      EXPECT_EQ(value, static_cast<float>(slowRank())) << "at step " << key.second;
    }
  }
  EXPECT_EQ(steps, 2);
}

TEST_F(TrainingRankProfile, NamesTheSlowRankWhileItProfilesAlways) {
  TrainerOptions options;
  options.profiledSteps = 2;
  options.profilingShare = 0.5;
  const LoggedValues values = train(options);
  if (world_->isRoot() && world_->size() > 1) {
    expectTablesNameTheSlowRank(values);
  }
  for (const auto& [key, value] : values.scalars) {
    EXPECT_NE(key.first.rfind("profile/", 0), 0U) << key.first << " is detail for the table";
  }
}

}  // namespace
}  // namespace steptape::test
