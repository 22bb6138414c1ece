// SPDX-License-Identifier: Apache-2.0
// A profiler's behavior when something fails around it.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <list>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/process/zone.h"
#include "steptape/profile/profiler.h"
#include "steptape/ranks/testing.h"

#include "base/whole_file.h"
#include "profile/record_builder.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/gunzip.h"
#include "profile/trace/xplane/xplane_trace.h"
#include "support/small_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Returns options for windows of one step each.
ProfilerOptions everyStep() {
  ProfilerOptions options;
  options.schedule.active = 1;
  return options;
}

void emptyStep() {
  STEPTAPE_ZONE("step");
}

/// Returns the files under a directory with this name ending, by name.
std::vector<std::string> filesIn(const fs::path& directory, const std::string& ending) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string path = entry.path().string();
    const bool ends = path.size() >= ending.size() &&
                      path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
    if (entry.is_regular_file() && ends) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> chromeTracesIn(const fs::path& directory) {
  return filesIn(directory, ".pt.trace.json.gz");
}
std::vector<std::string> xplanesIn(const fs::path& directory) {
  return filesIn(directory, ".xplane.pb");
}

std::vector<std::string> temporaryFilesIn(const fs::path& directory) {
  std::vector<std::string> files = filesIn(directory, "");
  const auto isTemporary = [](const std::string& path) {
    return fs::path(path).filename().string().rfind(".steptape-", 0) == 0;
  };
  files.erase(std::remove_if(files.begin(), files.end(), std::not_fn(isTemporary)), files.end());
  return files;
}

TEST(ProfilerTrouble, WritesTheProfilesOfSeveralProfilersInOneSecond) {
  constexpr std::int64_t kProfilers = 20;
  const testing::TempDir dir;
  std::vector<std::int64_t> steps;
  std::vector<std::string> told;
  ProfilerOptions options = everyStep();
  options.logDir = dir.string();
  options.schedule.repeat = 1;
  options.onTrace = [&](const Trace&, SummaryWriter*, std::int64_t step) { steps.push_back(step); };
  options.onError = [&](const Status& status) { told.push_back(status.message()); };
  {
    std::list<Profiler> profilers;
    for (options.firstStep = 1; options.firstStep <= kProfilers; ++options.firstStep) {
      Profiler& profiler = profilers.emplace_back(options);
      // The first ones have more to write than the last.
      for (std::int64_t i = 0; i < 100 * (kProfilers - options.firstStep); ++i) {
        emptyStep();
      }
      profiler.step();
      profiler.stop();
    }
  }
  std::vector<std::int64_t> inOrder(kProfilers);
  std::iota(inOrder.begin(), inOrder.end(), 2);
  EXPECT_EQ(steps, inOrder);
  EXPECT_THAT(told, IsEmpty());
  EXPECT_THAT(xplanesIn(dir.path()), SizeIs(kProfilers));
}

TEST(ProfilerTrouble, DoesNotDeadlockInACallback) {
  ProfilerOptions options = everyStep();
  options.schedule.repeat = 1;
  Profiler* running = nullptr;
  bool isFlushed = false;
  options.onTrace = [&](const Trace&, SummaryWriter*, std::int64_t) {
    isFlushed = running->flush().ok();
  };
  Profiler profiler(options);
  running = &profiler;
  profiler.step();
  EXPECT_TRUE(profiler.flush().ok());
  EXPECT_TRUE(isFlushed);
}

TEST(ProfilerTrouble, WritesTheTraceOfAWindowWhoseCallbackThrows) {
  const testing::TempDir dir;
  std::vector<std::string> told;
  ProfilerOptions options = everyStep();
  options.logDir = dir.string();
  options.schedule.repeat = 2;
  options.onTrace = [](const Trace&, SummaryWriter*, std::int64_t step) {
    if (step == 1) {
      throw std::runtime_error("no colors left");
    }
    throw 42;  // NOLINT: whatever it is
  };
  options.onError = [&](const Status& status) { told.push_back(status.message()); };
  Profiler profiler(options);
  for (int step = 0; step < 2; ++step) {
    emptyStep();
    profiler.step();
  }
  const Status status = profiler.flush();
  EXPECT_EQ(status.message(), "ProfilerOptions::onTrace threw: no colors left");
  EXPECT_THAT(told, ElementsAre(status.message(),
                                "ProfilerOptions::onTrace threw: an exception that is no "
                                "std::exception"));
  EXPECT_THAT(chromeTracesIn(dir.path()), SizeIs(2));
  EXPECT_THAT(xplanesIn(dir.path()), SizeIs(2));
  EXPECT_TRUE(profiler.flush().ok());
}

TEST(ProfilerTrouble, EndsTheSpansThatAnExceptionLeaves) {
  Profiler profiler;
  try {
    STEPTAPE_ZONE("outer");
    { STEPTAPE_ZONE("first"); }
    STEPTAPE_ZONE("inner");
    throw std::runtime_error("no such layer");
  } catch (const std::runtime_error&) {
    profiler.step();
  }
  emptyStep();
  profiler.step();
  profiler.stop();
  const OpProfile profile = profiler.profile();
  EXPECT_EQ(profile.steps, 2);
  EXPECT_EQ(profile.dropped, 0U);
  EXPECT_EQ(find(profile, "inner").calls, 1U);
  const OpStats outer = find(profile, "outer");
  EXPECT_EQ(outer.calls, 1U);
  EXPECT_GE(outer.total, find(profile, "first").total + find(profile, "inner").total);
  EXPECT_EQ(find(profile, "step").self, find(profile, "step").total) << "it lies in no other";
}

TEST(ProfilerTrouble, LeavesAProfilerUnharmedWhenAnotherOneIsRefused) {
  const testing::TempDir dir;
  ProfilerOptions options = everyStep();
  options.logDir = dir.string();
  options.schedule.active = 3;
  options.schedule.repeat = 1;
  Profiler profiler(options);
  for (int step = 0; step < 3; ++step) {
    emptyStep();
    EXPECT_THROW(Profiler(), Error);
    EXPECT_THROW(
        {
          ProfilerOptions other;
          other.logDir = dir.string();
          const Profiler second(other);
        },
        Error);
    profiler.step();
  }
  EXPECT_TRUE(profiler.flush().ok());
  EXPECT_EQ(find(profiler.profile(), "step").calls, 3U);
  ASSERT_THAT(chromeTracesIn(dir.path()), SizeIs(1));
  EXPECT_THAT(detail::profile::readChromeTrace(chromeTracesIn(dir.path())[0]).at(0).steps,
              SizeIs(3));
}

TEST(ProfilerTrouble, WritesIntoItsFilesHowManySpansAFullRingDropped) {
  const testing::TempDir dir;
  ProfilerOptions options;
  options.logDir = dir.string();
  options.recordsPerThread = 8;
  Profiler profiler(options);
  for (int i = 0; i < 100'000; ++i) {
    emptyStep();
  }
  profiler.stop();
  ASSERT_TRUE(profiler.flush().ok());
  const std::uint64_t dropped = profiler.profile().dropped;
  ASSERT_GT(dropped, 0U);
  const std::string chrome = chromeTracesIn(dir.path()).at(0);
  std::string bytes;
  ASSERT_TRUE(detail::base::readWholeFile(chrome, bytes).ok());
  EXPECT_THAT(gunzipped(bytes), HasSubstr("\"dropped " + std::to_string(dropped) + " spans\""));
  EXPECT_EQ(detail::profile::readChromeTrace(chrome).at(0).dropped, dropped);
  EXPECT_EQ(detail::profile::readXPlane(xplanesIn(dir.path()).at(0)).dropped, dropped);
}

TEST(ProfilerTrouble, RecordsTheThreadsThatAStepStarts) {
  Trace trace;
  ProfilerOptions options = everyStep();
  options.schedule.repeat = 1;
  options.onTrace = [&](const Trace& made, SummaryWriter*, std::int64_t) { trace = made; };
  Profiler profiler(options);
  constexpr int kThreads = 20;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      setThreadName(("worker " + std::to_string(i)).c_str());
      emptyStep();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  profiler.step();
  ASSERT_TRUE(profiler.flush().ok());
  EXPECT_EQ(find(profiler.profile(), "step").calls, std::uint64_t{kThreads});
  EXPECT_THAT(trace.threads, SizeIs(kThreads + 1)) << "the one that makes steps, too";
}

TEST(ProfilerTrouble, ContinuesOnAFullDiskAndLeavesOnlyCompleteFiles) {
  const testing::TempDir dir;
  std::vector<std::string> told;
  ProfilerOptions options = everyStep();
  options.logDir = dir.string();
  options.onError = [&](const Status& status) { told.push_back(status.message()); };
  Profiler profiler(options);
  std::mt19937_64 random(1);
  const auto step = [&](int zones) {
    for (int i = 0; i < zones; ++i) {
      STEPTAPE_NAMED_ZONE(zone, "rows");
      zone.setValue(static_cast<double>(random()));  // incompressible data
    }
    profiler.step();
    return profiler.flush();
  };
  constexpr int kFew = 10;
  constexpr int kMany = 20'000;
  EXPECT_TRUE(step(kFew).ok());
  {
    const test::SmallDisk disk(100'000);
    EXPECT_THAT(step(kMany).message(), HasSubstr("File too large"));
  }
  EXPECT_THAT(told, SizeIs(2)) << "one for each file";
  EXPECT_THAT(temporaryFilesIn(dir.path()), IsEmpty());
  EXPECT_EQ(find(profiler.profile(), "rows").calls, std::uint64_t{kMany});
  EXPECT_TRUE(step(kMany).ok());

  ASSERT_THAT(chromeTracesIn(dir.path()), SizeIs(2));
  ASSERT_THAT(xplanesIn(dir.path()), SizeIs(2));
  std::vector<std::size_t> spans;
  for (const std::string& file : chromeTracesIn(dir.path())) {
    spans.push_back(detail::profile::readChromeTrace(file).at(0).threads.at(0).spans.size());
  }
  EXPECT_THAT(spans, ElementsAre(kFew, kMany));
  const auto sessions = fs::directory_iterator(dir.path() / "plugins" / "profile");
  EXPECT_EQ(std::distance(sessions, fs::directory_iterator()), 2) << "XProf lists no empty one";
}

TEST(ProfilerTrouble, LeavesValidFilesWhenTheJobIsKilled) {
  const testing::TempDir dir;
  const pid_t job = fork();
  if (job == 0) {
    ProfilerOptions options = everyStep();
    options.logDir = dir.string();
    Profiler profiler(options);
    while (true) {
      for (int i = 0; i < 20'000; ++i) {
        emptyStep();
      }
      profiler.step();
      static_cast<void>(profiler.flush());
    }
  }
  while (xplanesIn(dir.path()).size() < 3) {
    ASSERT_EQ(waitpid(job, nullptr, WNOHANG), 0) << "the job has ended";
    std::this_thread::yield();
  }
  ASSERT_EQ(kill(job, SIGKILL), 0);
  ASSERT_EQ(waitpid(job, nullptr, 0), job);
  const std::vector<std::string> chromeTraces = chromeTracesIn(dir.path());
  EXPECT_GE(chromeTraces.size(), 3U);
  for (const std::string& file : chromeTraces) {
    const std::vector<Trace> traces = detail::profile::readChromeTrace(file);
    ASSERT_THAT(traces, SizeIs(1)) << file;
    EXPECT_THAT(traces[0].steps, SizeIs(1)) << file;
    EXPECT_EQ(traces[0].threads.at(0).spans.size() + traces[0].dropped, 20'000U) << file;
  }
  for (const std::string& file : xplanesIn(dir.path())) {
    EXPECT_THAT(detail::profile::readXPlane(file).steps, SizeIs(1)) << file;
  }
}

}  // namespace
}  // namespace steptape
