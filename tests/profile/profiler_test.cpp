// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/profiler.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/process/zone.h"
#include "steptape/ranks/testing.h"

#include "profile/logged_values.h"
#include "profile/record_builder.h"
#include "profile/trace/gunzip.h"
#include "support/content_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

void trainStep() {
  STEPTAPE_ZONE("step");
  { STEPTAPE_ZONE("load"); }
  { STEPTAPE_ZONE("forward"); }
}

void train(Profiler& profiler, int steps) {
  for (int i = 0; i < steps; ++i) {
    trainStep();
    profiler.step();
  }
}

ProfilerOptions scheduled(std::int64_t wait, std::int64_t warmup, std::int64_t active,
                          std::int64_t repeat) {
  ProfilerOptions options;
  options.schedule.wait = wait;
  options.schedule.warmup = warmup;
  options.schedule.active = active;
  options.schedule.repeat = repeat;
  return options;
}

TEST(Profiler, ProfilesEverythingUntilStopByDefault) {
  Profiler profiler;
  trainStep();
  trainStep();
  profiler.stop();
  trainStep();
  EXPECT_EQ(find(profiler.profile(), "step").calls, 2U);
  EXPECT_EQ(find(profiler.profile(), "load").calls, 2U);
}

TEST(Profiler, CountsTheActiveStepsOnly) {
  Profiler profiler(scheduled(1, 1, 3, 1));
  train(profiler, 10);
  EXPECT_EQ(find(profiler.profile(), "step").calls, 3U);
}

TEST(Profiler, IgnoresSpansDroppedInTheWarmUp) {
  ProfilerOptions options = scheduled(0, 1, 1, 1);
  options.recordsPerThread = 8;
  Profiler profiler(options);
  for (int i = 0; i < 10; ++i) {
    trainStep();
  }
  profiler.step();
  train(profiler, 1);
  EXPECT_EQ(profiler.profile().dropped, 0U);
  EXPECT_EQ(find(profiler.profile(), "step").calls, 1U);
}

TEST(Profiler, KeepsTheLatestWindow) {
  Profiler profiler(scheduled(0, 0, 2, 0));
  train(profiler, 2);
  EXPECT_EQ(find(profiler.profile(), "step").calls, 2U);
  { STEPTAPE_ZONE("only in the second window"); }
  train(profiler, 2);
  EXPECT_EQ(find(profiler.profile(), "step").calls, 2U);
  EXPECT_EQ(find(profiler.profile(), "only in the second window").calls, 1U);
}

TEST(Profiler, PutsEachSpanIntoTheWindowOfItsStep) {
  constexpr std::size_t kWindows = 500;
  std::vector<std::size_t> spansByWindow;
  {
    ProfilerOptions options = scheduled(0, 0, 1, 0);
    options.onTrace = [&](const Trace& trace, SummaryWriter*, std::int64_t) {
      spansByWindow.push_back(trace.threads.empty() ? 0 : trace.threads[0].spans.size());
    };
    Profiler profiler(options);
    train(profiler, kWindows);
  }
  spansByWindow.resize(kWindows);  // the destructor ends one more, without a step
  EXPECT_EQ(spansByWindow, std::vector<std::size_t>(kWindows, 3));
}

TEST(Profiler, CountsItsOwnTimeAnewAfterARestart) {
  Profiler profiler(scheduled(0, 0, 1, 0));
  train(profiler, 500);
  profiler.stop();
  profiler.start();
  train(profiler, 2);
  EXPECT_GE(profiler.profile().overhead, 0.0);
}

/// Returns the ids of the process's threads.
std::set<std::string> threadsOfProcess() {
  std::set<std::string> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    threads.insert(entry.path().filename());
  }
  return threads;
}

/// Returns how often a thread has gone to sleep.
long timesAsleep(const std::string& thread) {
  const std::string name = "voluntary_ctxt_switches:";
  std::ifstream status("/proc/self/task/" + thread + "/status");
  for (std::string word; status >> word;) {
    if (word == name) {
      long times = 0;
      status >> times;
      return times;
    }
  }
  ADD_FAILURE() << "no " << name << " of thread " << thread;
  return 0;
}

TEST(Profiler, SleepsWhileNothingIsRecorded) {
  constexpr std::chrono::milliseconds kIdle(200);
  const std::set<std::string> before = threadsOfProcess();
  Profiler profiler(scheduled(1, 0, 1, 1));  // the first step is waited for
  std::set<std::string> threads = threadsOfProcess();
  for (const std::string& thread : before) {
    threads.erase(thread);
  }
  ASSERT_FALSE(threads.empty());
  for (const std::string& thread : threads) {
    // If the thread never sleeps, this hangs until the test times out.
    while (timesAsleep(thread) == 0) {
      std::this_thread::yield();
    }
    const auto start = std::chrono::steady_clock::now();
    const long first = timesAsleep(thread);
    std::this_thread::sleep_for(kIdle);
    const long wakes = timesAsleep(thread) - first;
    // Twice a second, however long this took; every 10 ms during a recording.
    const auto halfSeconds =
        (std::chrono::steady_clock::now() - start) / std::chrono::milliseconds(500);
    EXPECT_LE(wakes, 2 + 2 * halfSeconds);
  }
}

TEST(Profiler, ReportsItsAction) {
  Profiler profiler(scheduled(1, 1, 2, 1));
  EXPECT_EQ(profiler.action(), ProfilerAction::kNone);
  profiler.step();
  EXPECT_EQ(profiler.action(), ProfilerAction::kWarmup);
  profiler.step();
  EXPECT_EQ(profiler.action(), ProfilerAction::kRecord);
  profiler.step();
  EXPECT_EQ(profiler.action(), ProfilerAction::kRecordAndSave);
  profiler.step();
  EXPECT_EQ(profiler.action(), ProfilerAction::kNone);
}

TEST(Profiler, SelfTimesMakeUpTheTotalsOfAThread) {
  Profiler profiler;
  for (int i = 0; i < 100; ++i) {
    trainStep();
  }
  profiler.stop();
  const OpProfile profile = profiler.profile();
  std::chrono::nanoseconds self{};
  for (const OpStats& op : profile.operators) {
    EXPECT_LE(op.self, op.total) << op.name;
    self += op.self;
  }
  const OpStats step = find(profile, "step");
  EXPECT_NEAR(static_cast<double>(self.count()), static_cast<double>(step.total.count()), 4);
  EXPECT_LE(step.total, profile.wall);
  EXPECT_LE(profile.covered, profile.wall);
  EXPECT_NEAR(static_cast<double>(profile.covered.count()), static_cast<double>(step.total.count()),
              4);
}

TEST(Profiler, SeesTheZonesOfAllThreads) {
  Profiler profiler;
  std::thread first(trainStep);
  std::thread second(trainStep);
  first.join();
  second.join();
  profiler.stop();
  EXPECT_EQ(find(profiler.profile(), "step").calls, 2U);
  EXPECT_EQ(find(profiler.profile(), "forward").calls, 2U);
}

TEST(Profiler, CountsDroppedSpans) {
  ProfilerOptions options;
  options.recordsPerThread = 8;
  Profiler profiler(options);
  for (int i = 0; i < 10; ++i) {
    trainStep();
  }
  profiler.stop();
  // The number of spans depends on how often the rings were drained meanwhile.
  const OpProfile profile = profiler.profile();
  std::uint64_t recorded = 0;
  for (const OpStats& op : profile.operators) {
    recorded += op.calls;
  }
  EXPECT_GT(profile.dropped, 0U);
  EXPECT_EQ(recorded + profile.dropped, 30U);
  EXPECT_THAT(profiler.table(), HasSubstr("spans were dropped**"));
}

TEST(Profiler, CanExcludeZones) {
  ProfilerOptions options;
  options.zones = false;
  Profiler profiler(options);
  trainStep();
  profiler.stop();
  EXPECT_TRUE(profiler.stats().empty());
}

TEST(Profiler, StartsAgainAfterStop) {
  Profiler profiler(scheduled(0, 0, 1, 1));
  profiler.start();
  profiler.stop();
  profiler.stop();
  profiler.step();
  profiler.start();
  train(profiler, 3);
  EXPECT_EQ(find(profiler.profile(), "step").calls, 1U);
}

TEST(Profiler, RefusesToRunTogetherWithAnother) {
  Profiler first(scheduled(100, 0, 1, 1));
  EXPECT_THAT([] { Profiler second; },
              ThrowsMessage<Error>("cannot start a profiler while another one runs in this "
                                   "process; stop() it first"));
  first.stop();
  EXPECT_NO_THROW(Profiler());
}

TEST(Profiler, RefusesAnInvalidSchedule) {
  EXPECT_THAT([] { Profiler profiler(scheduled(-1, 0, 1, 1)); },
              ThrowsMessage<Error>("ProfilerSchedule::wait: got -1; expected 0 or more"));
}

TEST(Profiler, LogsEachWindowToTheSubRunOfItsDirectory) {
  const testing::TempDir dir;
  {
    ProfilerOptions options = scheduled(1, 0, 1, 2);
    options.logDir = dir.string();
    options.detailScalars = true;
    Profiler profiler(options);
    train(profiler, 6);
  }
  const LoggedValues logged = readLogged(dir.string() + "/profile");
  ASSERT_EQ(logged.texts.size(), 4U);
  EXPECT_THAT(logged.texts.at({"profile/operators", 2}), HasSubstr("`step` | zone | 1 |"));
  EXPECT_THAT(logged.texts.at({"profile/operators", 4}), HasSubstr("`step` | zone | 1 |"));
  EXPECT_THAT(logged.texts.at({"profile/about", 2}), HasSubstr("Step 1 was recorded"));
  EXPECT_THAT(logged.texts.at({"profile/about", 4}), HasSubstr("Step 3 was recorded"));
  EXPECT_EQ(logged.scalars.count({"profile/self_ms/forward", 4}), 1U);
  EXPECT_EQ(logged.scalars.count({"profile/step_ms/total", 3}), 1U);
}

TEST(Profiler, LogsAWindowThatStopCutShort) {
  const testing::TempDir dir;
  {
    ProfilerOptions options = scheduled(0, 0, 5, 1);
    options.logDir = dir.string();
    Profiler profiler(options);
    train(profiler, 2);
  }
  const LoggedValues logged = readLogged(dir.string() + "/profile");
  EXPECT_THAT(logged.texts.at({"profile/operators", 2}), HasSubstr("`step` | zone | 2 |"));
  EXPECT_TRUE(logged.scalars.empty()) << "detail is logged as scalars where it is asked for";
}

// tests/interop/perfetto_trace_test.py parses such a file with the official schema.
TEST(Profiler, WritesItsWindowInTheFormatOfPerfetto) {
  const testing::TempDir dir;
  ProfilerOptions options = scheduled(1, 0, 2, 1);
  options.logDir = dir.string();
  options.chromeTrace = false;
  options.perfettoTrace = true;
  options.xplane = false;
  Profiler profiler(options);
  { STEPTAPE_ZONE("before the window"); }
  train(profiler, 3);
  { STEPTAPE_ZONE("after the window"); }
  ASSERT_TRUE(profiler.flush().ok());
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path().string());
    }
  }
  ASSERT_EQ(files.size(), 1U);
  EXPECT_THAT(files[0], EndsWith(".pftrace.gz"));
  const std::string trace = gunzipped(test::contentOf(files[0]));
  EXPECT_THAT(trace, HasSubstr("forward"));
  EXPECT_THAT(trace, HasSubstr("ProfilerStep#1"));
  EXPECT_THAT(trace, HasSubstr("ProfilerStep#2"));
  EXPECT_THAT(trace, Not(HasSubstr("ProfilerStep#0")));
  EXPECT_THAT(trace, Not(HasSubstr("the window")));
}

TEST(Profiler, WritesItsTableOnRequest) {
  const testing::TempDir dir;
  Profiler profiler;
  trainStep();
  profiler.stop();
  {
    SummaryWriter writer(dir.string());
    profiler.writeTo(writer, 7);
    EXPECT_TRUE(writer.close().ok());
  }
  EXPECT_EQ(readLogged(dir.string()).texts.at({"profile/operators", 7}), profiler.table());
}

}  // namespace
}  // namespace steptape
