// SPDX-License-Identifier: Apache-2.0
// Profiles of a running job whose ranks are processes: only one of them receives the signal.

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "steptape/profile/profiler.h"
#include "steptape/ranks/mpi_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class MpiTrigger : public ::testing::Test {
 protected:
  ProfilerOptions options() {
    ProfilerOptions options;
    options.trigger.signal = SIGUSR2;
    options.communicator = world_;
    options.schedule.active = 3;
    options.schedule.repeat = 1;
    options.onTrace = [this](const Trace& trace, SummaryWriter*, std::int64_t) {
      for (const TraceStep& step : trace.steps) {
        recorded_ += std::to_string(step.number) + " ";
      }
      recorded_ += "| ";
    };
    options.onError = [this](const Status& status) { told_ += status.message(); };
    return options;
  }

  /// Makes steps until profiling has started or stopped: the same number on all ranks.
  void stepUntilProfiled(Profiler& profiler, bool isProfiled) const {
    while ((profiler.action() != ProfilerAction::kNone) != isProfiled) {
      profiler.step();
    }
  }
  bool isLastRank() const { return world_->rank() == world_->size() - 1; }
  void sendSignalToLastRank() const {
    if (isLastRank()) {
      ASSERT_EQ(::kill(::getpid(), SIGUSR2), 0);
    }
  }

  std::shared_ptr<MpiCommunicator> world_ = std::make_shared<MpiCommunicator>(MPI_COMM_WORLD);
  std::string recorded_;
  std::string told_;
};

TEST_F(MpiTrigger, ProfilesTheSameStepsOnAllRanksAlthoughOneGotTheSignal) {
  Profiler profiler(options());
  for (int step = 0; step < 1000; ++step) {
    profiler.step();
    ASSERT_EQ(profiler.action(), ProfilerAction::kNone);
  }
  sendSignalToLastRank();
  stepUntilProfiled(profiler, true);
  stepUntilProfiled(profiler, false);
  EXPECT_TRUE(profiler.flush().ok());
  EXPECT_THAT(recorded_, HasSubstr(" | "));
  EXPECT_THAT(world_->allgather(recorded_), Each(recorded_));
}

TEST_F(MpiTrigger, EndsAWindowOnAllRanksWhenASecondSignalComes) {
  ProfilerOptions endless = options();
  endless.schedule.active = 0;
  Profiler profiler(endless);
  sendSignalToLastRank();
  stepUntilProfiled(profiler, true);
  while (profiler.action() != ProfilerAction::kNone) {
    sendSignalToLastRank();  // until one does not belong to the first one
    profiler.step();
  }
  EXPECT_TRUE(profiler.flush().ok());
  EXPECT_THAT(world_->allgather(recorded_), Each(recorded_));
}

TEST_F(MpiTrigger, DelaysNoRankWhenOneStopsProfiling) {
  Profiler profiler(options());
  if (isLastRank()) {
    profiler.stop();
  } else {
    while (told_.empty()) {
      profiler.step();
    }
    EXPECT_THAT(told_, HasSubstr("a rank has stopped profiling"));
    profiler.step();
  }
  world_->barrier();
}

}  // namespace
}  // namespace steptape
