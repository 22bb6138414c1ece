// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/device_activities.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <pthread.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/process/zone.h"
#include "steptape/profile/profiler.h"

#include "profile/recorder/op_stats_builder.h"
#include "profile/recorder/span_source.h"
#include "profile/recorder/trace_records.h"

#include <gmock/gmock.h>

namespace steptape::detail::profile {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kMicrosecond = 1000;
constexpr std::int64_t kMillisecond = 1000 * kMicrosecond;

constexpr std::uint64_t kTrainingThread = 77;

std::uint32_t ownThread() {
  return static_cast<std::uint32_t>(::pthread_self());
}

/// A call by a thread that `row` means.
DeviceActivity call(const std::string& name, std::uint32_t correlation, std::int64_t start,
                    std::int64_t end, std::uint64_t row = kTrainingThread) {
  return {DeviceActivityKind::kCall, name, -1, row, correlation, start, end, ""};
}

DeviceActivity kernel(const std::string& name, std::uint32_t correlation, std::int64_t start,
                      std::int64_t end) {
  return {DeviceActivityKind::kWork, name, 0, 7, correlation, start, end, ""};
}

/// Plays a device whose activities the test adds. Its clock may differ from the system's.
class FakeRecorder : public ActivityRecorder {
 public:
  struct Device {
    std::vector<DeviceActivity> next;  ///< Of the running session.
    std::string startProblem;
    std::string stopProblem;
    std::int64_t clockOffset = 0;
    bool recordsNothing = false;
    int sessions = 0;
    bool isRunning = false;
    std::function<void()> duringSynchronize = nullptr;
  };
  explicit FakeRecorder(Device* device) : device_(*device) {}

  std::string start() override {
    EXPECT_FALSE(device_.isRunning);
    device_.isRunning = device_.startProblem.empty();
    device_.sessions += device_.isRunning ? 1 : 0;
    return device_.startProblem;
  }
  void synchronize() override {
    if (device_.duringSynchronize) {
      device_.duringSynchronize();
    }
    const std::int64_t begin = Clock::system().wallNanos();
    std::int64_t end = begin;
    while (end < begin + 20 * kMicrosecond) {
      end = Clock::system().wallNanos();
    }
    if (!device_.recordsNothing) {
      device_.next.push_back(call("cudaDeviceSynchronize", 0, begin, end, ownThread()));
    }
  }
  std::string stop(std::vector<DeviceActivity>* activities) override {
    EXPECT_TRUE(device_.isRunning);
    device_.isRunning = false;
    *activities = std::exchange(device_.next, {});
    for (DeviceActivity& activity : *activities) {
      activity.startNanos += device_.clockOffset;
      activity.endNanos += device_.clockOffset;
    }
    return device_.stopProblem;
  }

 private:
  Device& device_;
};

class DeviceActivitiesTest : public ::testing::Test {
 protected:
  DeviceActivitiesTest() : activities_(std::make_unique<FakeRecorder>(&device_)) {}

  static std::int64_t now() { return Clock::system().wallNanos(); }

  /// Takes a window, as lines "row name".
  std::vector<std::string> take(std::uint64_t since, std::uint64_t until) {
    std::vector<std::string> lines;
    activities_.take(since, until, [&](const process::SpanBatch& batch) {
      for (const SpanRecord& record : batch.records) {
        lines.push_back((batch.device < 0 ? "host" : "device " + std::to_string(batch.device)) +
                        " " + std::to_string(record.correlation()) + " " + spanName(record.nameId));
        records_.push_back(record);
      }
    });
    return lines;
  }

  FakeRecorder::Device device_;
  DeviceActivities activities_;
  std::vector<SpanRecord> records_;
};

TEST_F(DeviceActivitiesTest, ReportsWorkAndItsLaunch) {
  ASSERT_TRUE(activities_.start());
  const std::uint64_t since = readTicks();
  const std::int64_t at = now();
  device_.next = {kernel("sgemm", 5, at + 20 * kMicrosecond, at + 90 * kMicrosecond),
                  call("cudaLaunchKernel", 5, at + 10 * kMicrosecond, at + 12 * kMicrosecond)};
  EXPECT_THAT(take(since, since + 1'000'000'000),
              ElementsAre("host 5 cudaLaunchKernel", "device 0 5 sgemm"));
  const double nanos = static_cast<double>(records_[1].endTicks - records_[1].startTicks) *
                       TickConverter::nanosPerTick();
  EXPECT_NEAR(nanos, 70'000, 1'000);
  EXPECT_THAT(activities_.problems(), Each(IsEmpty()));
}

TEST_F(DeviceActivitiesTest, HasTimesOnTheClockOfOtherSpans) {
  ASSERT_TRUE(activities_.start());
  const std::uint64_t since = readTicks();
  const std::int64_t at = now();
  const std::uint64_t ticks = readTicks();
  device_.next = {kernel("sgemm", 5, at, at + kMicrosecond)};
  take(since, ticks + 1'000'000'000);
  const SpanRecord& sgemm = records_.back();
  EXPECT_NEAR(static_cast<double>(static_cast<std::int64_t>(sgemm.startTicks - ticks)) *
                  TickConverter::nanosPerTick(),
              0, 20'000);
}

TEST_F(DeviceActivitiesTest, CorrectsAClockThatDiffers) {
  device_.clockOffset = -5 * kMillisecond;
  ASSERT_TRUE(activities_.start());
  const std::uint64_t since = readTicks();
  const std::int64_t at = now();
  const std::uint64_t ticks = readTicks();
  device_.next = {kernel("sgemm", 5, at, at + kMicrosecond)};
  take(0, ticks + 1'000'000'000);
  EXPECT_NEAR(static_cast<double>(static_cast<std::int64_t>(records_.back().startTicks - since)) *
                  TickConverter::nanosPerTick(),
              0, 200'000);
}

TEST_F(DeviceActivitiesTest, CountsWorkInTheWindowThatLaunchedIt) {
  ASSERT_TRUE(activities_.start());
  const std::int64_t at = now();
  const std::uint64_t end = readTicks();
  // Launched just before the window ends; both run after its end.
  device_.next = {call("cudaLaunchKernel", 5, at - 30 * kMicrosecond, at - 28 * kMicrosecond),
                  kernel("early", 5, at + kMillisecond, at + 5 * kMillisecond),
                  call("cudaLaunchKernel", 6, at + 2 * kMillisecond, at + 3 * kMillisecond),
                  kernel("late", 6, at + 6 * kMillisecond, at + 7 * kMillisecond)};
  EXPECT_THAT(take(end - 1'000'000'000, end),
              ElementsAre("host 5 cudaLaunchKernel", "device 0 5 early"));
  EXPECT_THAT(take(end, end + 10'000'000'000),
              ElementsAre("host 6 cudaLaunchKernel", "device 0 6 late"));
}

TEST_F(DeviceActivitiesTest, DiscardsWorkOfBeforeTheWindow) {
  ASSERT_TRUE(activities_.start());
  const std::int64_t at = now();
  device_.next = {call("cudaLaunchKernel", 5, at, at + kMicrosecond),
                  kernel("sgemm", 5, at, at + kMicrosecond)};
  const std::uint64_t later = readTicks() + 1'000'000'000;
  EXPECT_THAT(take(later, later + 1'000'000'000), IsEmpty());
}

TEST_F(DeviceActivitiesTest, OmitsWorkLaunchedDuringAPause) {
  ASSERT_TRUE(activities_.start());
  const std::uint64_t since = readTicks();
  activities_.pause();
  const std::int64_t at = now();
  while (now() < at + kMillisecond) {
  }
  ASSERT_TRUE(activities_.start());
  const std::int64_t after = now();
  device_.next = {
      call("cudaLaunchKernel", 5, at + 400 * kMicrosecond, at + 401 * kMicrosecond),
      kernel("paused", 5, after + 200 * kMicrosecond, after + 300 * kMicrosecond),
      call("cudaLaunchKernel", 6, after + 100 * kMicrosecond, after + 101 * kMicrosecond),
      kernel("recorded", 6, after + 400 * kMicrosecond, after + 500 * kMicrosecond)};
  EXPECT_THAT(take(since, since + 1'000'000'000),
              ::testing::AllOf(::testing::Contains("device 0 6 recorded"),
                               ::testing::Not(::testing::Contains("device 0 5 paused"))));
}

TEST_F(DeviceActivitiesTest, RecordsTheNextWindowToo) {
  ASSERT_TRUE(activities_.start());
  take(0, readTicks());
  EXPECT_TRUE(device_.isRunning);
  activities_.pause();
  take(0, readTicks());
  EXPECT_FALSE(device_.isRunning);
  EXPECT_TRUE(activities_.start());
  EXPECT_TRUE(device_.isRunning);
}

TEST_F(DeviceActivitiesTest, LetNobodyElseWaitForADevice) {
  ASSERT_TRUE(activities_.start());
  device_.duringSynchronize = [this] {  // on another thread, which take() must not block
    std::thread([this] {
      activities_.pause();
      activities_.start();
    }).join();
  };
  take(0, readTicks());
  EXPECT_TRUE(device_.isRunning);
  device_.duringSynchronize = [this] { std::thread([this] { activities_.pause(); }).join(); };
  take(0, readTicks());
  EXPECT_FALSE(device_.isRunning);
}

TEST_F(DeviceActivitiesTest, SaysThatAnotherProfilerIsActive) {
  device_.startProblem = "another profiler uses it";
  EXPECT_FALSE(activities_.start());
  EXPECT_THAT(activities_.problems(), ElementsAre("another profiler uses it", ""));
  device_.startProblem = "";
  EXPECT_TRUE(activities_.start());
  EXPECT_THAT(activities_.problems(), Each(IsEmpty()));
}

TEST_F(DeviceActivitiesTest, NoticesThatNothingIsRecorded) {
  device_.recordsNothing = true;
  EXPECT_FALSE(activities_.start());
  EXPECT_THAT(activities_.problems(),
              ElementsAre(HasSubstr("no call of the CUDA runtime was recorded"), ""));
  EXPECT_FALSE(device_.isRunning);
}

TEST_F(DeviceActivitiesTest, SaysThatItsRecordingWasCanceled) {
  ASSERT_TRUE(activities_.start());
  device_.stopProblem = "another profiler has canceled it";
  EXPECT_THAT(take(0, readTicks()), IsEmpty());
  EXPECT_THAT(activities_.problems(), ElementsAre("", "another profiler has canceled it"));
}

TEST_F(DeviceActivitiesTest, KeepsTheFactsOfAKernel) {
  ASSERT_TRUE(activities_.start());
  const std::int64_t at = now();
  DeviceActivity sgemm = kernel("sgemm", 5, at, at + kMicrosecond);
  sgemm.facts =
      "\"External id\": 9, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, "
      "\"correlation\": 5, \"grid\": [32, 1, 1]";
  DeviceActivity copy = kernel("Memcpy DtoD (Device -> Device)", 6, at, at + 2 * kMicrosecond);
  copy.facts = "\"correlation\": 6, \"bytes\": 512, \"memory bandwidth (GB/s)\": 0.256";
  device_.next = {sgemm, copy};
  take(0, readTicks() + 1'000'000'000);
  const auto detailsAt = [&](std::size_t i) -> const SpanDetails& {
    return spanDetails(records_[i].detailsId());
  };
  ASSERT_THAT(records_, SizeIs(2));
  EXPECT_EQ(detailsAt(0).arguments, "\"context\": 1, \"grid\": [32, 1, 1]");
  EXPECT_EQ(detailsAt(1).arguments, "");
  EXPECT_EQ(detailsAt(1).bytes, 512);
}

TEST_F(DeviceActivitiesTest, NestInTheOperatorsOfATrace) {
  process::SpanCollector collector;
  collector.startRecording();
  ASSERT_TRUE(activities_.start());
  const std::uint64_t since = readTicks();
  TraceRecords records(since, 1000);
  OpStatsBuilder stats(since);
  const auto add = [&](const process::SpanBatch& batch) {
    records.add(batch);
    stats.add(batch);
  };
  std::int64_t inside = 0;
  {
    STEPTAPE_ZONE("launches");
    inside = now();
    while (now() < inside + kMillisecond) {
    }
  }
  device_.next = {call("cudaLaunchKernel", 5, inside + 100 * kMicrosecond,
                       inside + 200 * kMicrosecond, ownThread()),
                  kernel("sgemm", 5, inside + 300 * kMicrosecond, inside + 800 * kMicrosecond)};
  collector.drain(add);
  const std::uint64_t end = readTicks();
  activities_.take(since, end, add);
  const TickConverter converter;
  const Trace trace = records.build(end, converter, {"host", 1, 0, 1});
  ASSERT_THAT(trace.threads, SizeIs(2));  // the call is on the thread that made it
  const std::vector<TraceSpan>& host = trace.threads[0].spans;
  ASSERT_THAT(host, SizeIs(2));
  EXPECT_EQ(trace.names[host[0].name].text, "launches");
  EXPECT_EQ(trace.names[host[1].name].text, "cudaLaunchKernel");
  EXPECT_EQ(host[1].flags, 0);
  EXPECT_EQ(host[1].correlation, 5U);
  EXPECT_THAT(linkLaunches(trace), SizeIs(1));

  for (const OpStats& op : stats.build(end, converter).operators) {
    const double self = static_cast<double>(op.self.count());
    if (op.name == "launches") {
      EXPECT_GE(self, 1e6);  // a zone's table counts calls of the runtime as its own time
    } else {
      EXPECT_NEAR(self, op.name == "sgemm" ? 500'000 : 0, 20'000) << op.name;
    }
  }
}

TEST_F(DeviceActivitiesTest, CountOncePerKernelWhereOperatorsAreSampled) {
  OpStatsBuilder stats(0, /*sampling=*/10);
  ASSERT_TRUE(activities_.start());
  const std::int64_t at = now();
  device_.next = {kernel("sampled sgemm", 5, at, at + kMicrosecond)};
  activities_.take(0, readTicks() + 1'000'000'000,
                   [&](const process::SpanBatch& batch) { stats.add(batch); });
  const TickConverter converter;
  for (const OpStats& op : stats.build(readTicks(), converter).operators) {
    EXPECT_EQ(op.calls, 1U) << op.name;
  }
}

/// What OpProfiler does with activities, without LibTorch.
class ActivitySource : public SpanSource {
 public:
  explicit ActivitySource(FakeRecorder::Device* device)
      : activities_(std::make_unique<FakeRecorder>(device)) {}
  void switchOn() override { activities_.start(); }
  int sampling() const override { return 1; }
  std::vector<std::string> problems() const override { return activities_.problems(); }
  double measureNanosPerSpan() override { return 0; }
  void switchOff() noexcept override { activities_.pause(); }
  void takeDeviceSpans(std::uint64_t since, std::uint64_t until, bool waits,
                       const std::function<void(const process::SpanBatch&)>& sink) override {
    if (waits) {
      activities_.take(since, until, sink);
    }
  }

 private:
  DeviceActivities activities_;
};

class ActivityProfiler : public Profiler {
 public:
  ActivityProfiler(ProfilerOptions options, FakeRecorder::Device* device)
      : Profiler(std::move(options), std::make_unique<ActivitySource>(device)) {}
};

TEST(DeviceActivitiesOfAProfiler, AreInTheTraceAndTheTable) {
  FakeRecorder::Device device;
  std::vector<Trace> traces;
  std::vector<std::string> problems;
  ProfilerOptions options;
  options.schedule.active = 1;
  options.schedule.repeat = 2;
  options.onTrace = [&](const Trace& trace, SummaryWriter*, std::int64_t) {
    traces.push_back(trace);
  };
  options.onError = [&](const Status& status) { problems.push_back(status.message()); };
  ActivityProfiler profiler(options, &device);
  const std::int64_t at = Clock::system().wallNanos();
  device.next = {call("cudaLaunchKernel", 5, at, at + kMicrosecond),
                 kernel("sgemm", 5, at + kMicrosecond, at + kMillisecond)};
  profiler.step();
  EXPECT_TRUE(profiler.flush().ok());
  profiler.step();
  profiler.stop();
  EXPECT_TRUE(profiler.flush().ok());
  EXPECT_THAT(problems, IsEmpty());
  ASSERT_THAT(traces, SizeIs(2));
  EXPECT_THAT(linkLaunches(traces[0]), SizeIs(1));
  EXPECT_THAT(linkLaunches(traces[1]), IsEmpty());
}

TEST(DeviceActivitiesOfAProfiler, ReportOnceThatTheyCannotBeRecorded) {
  FakeRecorder::Device device;
  device.startProblem = "another profiler uses it";
  std::vector<std::string> problems;
  ProfilerOptions options;
  options.schedule.active = 1;
  options.onError = [&](const Status& status) { problems.push_back(status.message()); };
  ActivityProfiler profiler(options, &device);
  profiler.step();
  profiler.step();
  profiler.stop();
  EXPECT_THAT(problems, ElementsAre("another profiler uses it"));
}

TEST(DeviceActivitiesOfAProfiler, ReportWhatTheLastWindowLost) {
  FakeRecorder::Device device;
  std::vector<std::string> problems;
  ProfilerOptions options;
  options.onError = [&](const Status& status) { problems.push_back(status.message()); };
  ActivityProfiler profiler(options, &device);
  device.stopProblem = "another profiler has canceled it";
  profiler.step();
  profiler.stop();
  EXPECT_THAT(problems, ElementsAre("another profiler has canceled it"));
}

TEST(ActivityClock, GoesThroughBothMoments) {
  const ActivityClock clock({1000, 5'000'000}, {3'001'000, 7'000'000});
  EXPECT_EQ(clock.ticksAt(5'000'000), 1000U);
  EXPECT_EQ(clock.ticksAt(6'000'000), 1'501'000U);
  EXPECT_EQ(clock.ticksAt(7'000'000), 3'001'000U);
}

TEST(ActivityClock, StaysAsItIsIfACallLiesWhereItMust) {
  ActivityClock clock({0, 0}, {2'000'000, 2'000'000});
  clock.align(100, 200, 90, 210);
  EXPECT_EQ(clock.ticksAt(1000), 1000U);
}

TEST(ActivityClock, MovesAsLittleAsACallRequires) {
  ActivityClock clock({0, 0}, {2'000'000, 2'000'000});
  clock.align(100, 200, 150, 260);  // at least 50 later, at most 60
  EXPECT_EQ(clock.ticksAt(1000), 1050U);
  clock.align(100, 200, 100, 240);
  EXPECT_EQ(clock.ticksAt(1000), 1040U);
}

}  // namespace
}  // namespace steptape::detail::profile
