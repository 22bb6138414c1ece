// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/process/zone.h"
#include "steptape/profile/profiler.h"
#include "steptape/ranks/testing.h"

#include "profile/record_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

constexpr int kSignal = SIGUSR2;

/// A running training loop, with its profiled windows.
class ProfiledJob {
 public:
  explicit ProfiledJob(const ProfilerTrigger& trigger, const ProfilerSchedule& schedule)
      : profiler_(options(trigger, schedule)) {}

  void step() {
    { STEPTAPE_ZONE("step"); }
    profiler_.step();
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      step();
    }
  }
  /// Continues until a step starts with profiling on or off.
  void stepUntilProfiled(bool isProfiled) {
    while (this->isProfiled() != isProfiled) {
      step();
      std::this_thread::yield();
    }
  }
  bool isProfiled() const { return profiler_.action() != ProfilerAction::kNone; }

  /// Returns the steps of each finished window.
  std::vector<std::int64_t> windows() {
    EXPECT_TRUE(profiler_.flush().ok());
    return windows_;
  }
  Profiler& profiler() { return profiler_; }

 private:
  ProfilerOptions options(const ProfilerTrigger& trigger, const ProfilerSchedule& schedule) {
    ProfilerOptions options;
    options.trigger = trigger;
    options.schedule = schedule;
    options.onTrace = [this](const Trace& trace, SummaryWriter*, std::int64_t) {
      windows_.push_back(static_cast<std::int64_t>(trace.steps.size()));
    };
    return options;
  }

  std::vector<std::int64_t> windows_;
  Profiler profiler_;
};

ProfilerSchedule activeSteps(std::int64_t active, std::int64_t repeat = 1) {
  ProfilerSchedule schedule;
  schedule.active = active;
  schedule.repeat = repeat;
  return schedule;
}

ProfilerTrigger bySignal() {
  ProfilerTrigger trigger;
  trigger.signal = kSignal;
  return trigger;
}

void sendSignal() {
  ASSERT_EQ(::kill(::getpid(), kSignal), 0);
}

/// Sends signals until one starts or stops a profile: signals right after another one are ignored.
void switchBySignal(ProfiledJob& job) {
  const bool wasProfiled = job.isProfiled();
  while (job.isProfiled() == wasProfiled) {
    sendSignal();
    job.step();
  }
}

TEST(ProfilerTrigger, RecordsNothingBeforeTheSignal) {
  ProfiledJob job(bySignal(), activeSteps(2));
  job.steps(10);
  EXPECT_EQ(job.profiler().action(), ProfilerAction::kNone);
  EXPECT_TRUE(job.profiler().stats().empty());
  EXPECT_THAT(job.windows(), ElementsAre());
}

TEST(ProfilerTrigger, BeginsTheScheduleAfterTheStepOfTheSignal) {
  ProfilerSchedule schedule = activeSteps(2);
  schedule.warmup = 1;
  ProfiledJob job(bySignal(), schedule);
  job.steps(3);
  sendSignal();
  EXPECT_EQ(job.profiler().action(), ProfilerAction::kNone);
  job.step();
  EXPECT_EQ(job.profiler().action(), ProfilerAction::kWarmup);
  job.step();
  EXPECT_EQ(job.profiler().action(), ProfilerAction::kRecord);
  job.step();
  EXPECT_EQ(job.profiler().action(), ProfilerAction::kRecordAndSave);
  job.step();
  EXPECT_EQ(job.profiler().action(), ProfilerAction::kNone);
  job.steps(3);
  EXPECT_THAT(job.windows(), ElementsAre(2));
  EXPECT_EQ(find(job.profiler().profile(), "step").calls, 2U);
}

TEST(ProfilerTrigger, EndsAWindowAtTheNextSignal) {
  ProfiledJob job(bySignal(), ProfilerSchedule());  // it would record until stop()
  sendSignal();
  job.step();
  ASSERT_TRUE(job.isProfiled());
  switchBySignal(job);
  job.steps(3);
  const std::vector<std::int64_t> windows = job.windows();
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(find(job.profiler().profile(), "step").calls, static_cast<std::uint64_t>(windows[0]));
}

TEST(ProfilerTrigger, MakesAnotherProfileAtAnotherSignal) {
  ProfiledJob job(bySignal(), activeSteps(2));
  for (int profile = 0; profile < 2; ++profile) {
    switchBySignal(job);
    job.stepUntilProfiled(false);
  }
  EXPECT_THAT(job.windows(), ElementsAre(2, 2));
}

TEST(ProfilerTrigger, TreatsSignalsWithinOneSecondAsOne) {
  ProfiledJob job(bySignal(), activeSteps(100));
  sendSignal();
  job.step();
  sendSignal();  // like a launcher's signal, which reaches this rank a little later
  job.step();
  sendSignal();
  job.steps(2);
  EXPECT_TRUE(job.isProfiled());
}

TEST(ProfilerTrigger, MakesAllCyclesOfItsSchedule) {
  ProfilerSchedule schedule = activeSteps(2, 3);
  schedule.wait = 1;
  ProfiledJob job(bySignal(), schedule);
  sendSignal();
  job.steps(20);
  EXPECT_THAT(job.windows(), ElementsAre(2, 2, 2));
}

TEST(ProfilerTrigger, IgnoresSignalsWhileTheProfilerIsStopped) {
  ProfiledJob job(bySignal(), activeSteps(1));
  job.profiler().stop();
  sendSignal();
  job.profiler().start();
  job.steps(3);
  EXPECT_FALSE(job.isProfiled()) << "the signal came before start()";
  EXPECT_THAT(job.windows(), ElementsAre());
}

TEST(ProfilerTrigger, RefusesASignalThatCannotBeCaught) {
  EXPECT_THAT(
      [] {
        ProfilerOptions options;
        options.trigger.signal = SIGKILL;
        const Profiler profiler(options);
      },
      ThrowsMessage<Error>(::testing::HasSubstr("got signal 9; expected one that can be caught")));
  EXPECT_NO_THROW(Profiler());
}

class ProfilerTriggerFile : public ::testing::Test {
 protected:
  ProfilerTrigger byFile() const {
    ProfilerTrigger trigger;
    trigger.file = file_;
    return trigger;
  }
  void touch() const { std::ofstream(file_) << ""; }
  void touchLater() const {
    std::filesystem::last_write_time(
        file_, std::filesystem::last_write_time(file_) + std::chrono::seconds(1));
  }
  void remove() const { ASSERT_TRUE(std::filesystem::remove(file_)); }

  const testing::TempDir dir_;
  const std::string file_ = dir_.string() + "/profile_now";
};

TEST_F(ProfilerTriggerFile, BeginsWhenItAppearsAndEndsWhenItDisappears) {
  ProfiledJob job(byFile(), ProfilerSchedule());
  job.steps(10);
  EXPECT_FALSE(job.isProfiled());
  touch();
  job.stepUntilProfiled(true);
  remove();
  job.stepUntilProfiled(false);
  EXPECT_EQ(job.windows().size(), 1U);
  touch();
  job.stepUntilProfiled(true);
  remove();
  job.stepUntilProfiled(false);
  EXPECT_EQ(job.windows().size(), 2U);
}

TEST_F(ProfilerTriggerFile, BeginsOnceForAFileThatStays) {
  ProfiledJob job(byFile(), activeSteps(2));
  touch();
  job.stepUntilProfiled(true);
  job.stepUntilProfiled(false);
  job.steps(100);
  EXPECT_THAT(job.windows(), ElementsAre(2));
  touchLater();
  job.stepUntilProfiled(true);
  job.stepUntilProfiled(false);
  EXPECT_THAT(job.windows(), ElementsAre(2, 2));
}

TEST_F(ProfilerTriggerFile, AcceptsAFileThatExistsFromTheStart) {
  touch();
  ProfiledJob job(byFile(), activeSteps(1));
  job.stepUntilProfiled(true);
}

TEST_F(ProfilerTriggerFile, DoesNotEndAProfileThatASignalBegan) {
  ProfilerTrigger either = byFile();
  either.signal = kSignal;
  ProfiledJob job(either, activeSteps(1000));
  sendSignal();
  job.step();
  ASSERT_TRUE(job.isProfiled());
  job.steps(900);
  EXPECT_TRUE(job.isProfiled());
}

}  // namespace
}  // namespace steptape
