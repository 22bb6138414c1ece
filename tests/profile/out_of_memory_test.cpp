// SPDX-License-Identifier: Apache-2.0
//
// Makes single allocations of a profiled program fail, one after the other, on any thread: the
// training continues, and each window is written or reported. A separate program, because it
// replaces operator new.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <new>
#include <optional>
#include <thread>

#include "steptape/process/zone.h"
#include "steptape/profile/profiler.h"
#include "steptape/ranks/testing.h"

#include "profile/trace/chrome/chrome_trace.h"
#include "support/allocations.h"
#include "support/sweep.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

namespace fs = std::filesystem;

constexpr int kSteps = 3;

void trainStep() {
  STEPTAPE_ZONE("a step with a name that is not short");
  { STEPTAPE_ZONE("forward"); }
  STEPTAPE_ZONE("backward");
}

/// A loop that profiles each step in a separate window. Its calls throw Error if the operating
/// system reports lack of memory.
class ProfiledProgram {
 public:
  explicit ProfiledProgram(const std::string& logDir) {
    options_.logDir = logDir;
    options_.schedule.active = 1;
    options_.onError = [this](const Status&) { ++reports_; };
    options_.onTrace = [this](const Trace&, SummaryWriter*, std::int64_t) { ++windows_; };
  }

  ProfilerOptions& options() { return options_; }
  int windows() const { return windows_; }
  int reports() const { return reports_; }
  int completeSteps() const { return completeSteps_; }

  void run(FailingAllocations* failing) {
    std::optional<Profiler> profiler;
    attempt<Error>([&] { profiler.emplace(options_); });
    if (!profiler) {
      return;
    }
    for (int step = 0; step < kSteps; ++step) {
      trainStep();
      completeSteps_ += attempt<Error>([&] { profiler->step(); }) ? 1 : 0;
    }
    attempt<Error>([&] { profiler->table(); });
    attempt<Error>([&] { static_cast<void>(profiler->flush()); });
    hasStopped_ = attempt<Error>([&] { profiler->stop(); });
    failing
        ->stop();  // its writer's destructor would wait for memory, for WriterOptions::flushTimeout
  }
  bool hasStopped() const { return hasStopped_; }

 private:
  std::atomic<int> windows_{0};
  std::atomic<int> reports_{0};
  int completeSteps_ = 0;
  bool hasStopped_ = false;
  ProfilerOptions options_;
};

/// Expects that every trace file can be read, and that no temporary file is left.
void expectWholeFiles(const std::string& directory) {
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
    if (name.find(".pt.trace.json") != std::string::npos) {
      std::vector<Trace> traces;
      EXPECT_NO_THROW(traces = detail::profile::readChromeTrace(entry.path().string())) << name;
      EXPECT_EQ(traces.size(), 1U);
    }
  }
}

void sweep(std::uint64_t count, std::uint64_t oneIn) {
  test::sweep(oneIn, [&](std::uint64_t n) {
    const testing::TempDir directory;
    ProfiledProgram program(directory.string() + "/run");
    fs::create_directories(directory.string() + "/run");
    FailingAllocations failing(n, count);
    program.run(&failing);
    const bool hasFailed = failing.stop() > 0;
    if (program.completeSteps() == kSteps && program.hasStopped()) {
      EXPECT_TRUE(program.windows() >= kSteps || program.reports() > 0)
          << program.windows() << " windows";
    }
    expectWholeFiles(directory.string());
    EXPECT_TRUE(hasFailed || program.reports() == 0);
    return hasFailed;
  });
}

TEST(ProfilerOutOfMemory, WritesOrReportsEachWindowWhicheverAllocationFails) {
  sweep(1, 29);  // of thousands, which come from few places
}

TEST(ProfilerOutOfMemory, WritesOrReportsEachWindowWhileSomeAllocationsFail) {
  sweep(50, 211);
}

TEST(ProfilerOutOfMemory, WritesOrReportsEachWindowWhileAllAllocationsFail) {
  sweep(FailingAllocations::kUntilTheEnd, 233);
}

}  // namespace
}  // namespace steptape
