// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "steptape/libtorch/op_profiler.h"
#include "steptape/ranks/testing.h"

#include "fake_device.h"
#include "profile/trace/chrome/chrome_trace.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Ne;
using ::testing::SizeIs;

/// Returns the device row of an operator; without calls if there is none.
OpStats onDevice(const Profiler& profiler, std::string_view name) {
  const std::vector<OpStats> operators = profiler.profile().operators;
  const auto found = std::find_if(operators.begin(), operators.end(), [&](const OpStats& op) {
    return op.kind == SpanKind::kDevice && op.name == name;
  });
  return found == operators.end() ? OpStats() : *found;
}

/// During its lifetime, work takes exactly its time on the stream.
struct StreamThatNeverIdles {
  StreamThatNeverIdles() { FakeDevice::neverIdles(true); }
  ~StreamThatNeverIdles() { FakeDevice::neverIdles(false); }
  StreamThatNeverIdles(const StreamThatNeverIdles&) = delete;
  StreamThatNeverIdles& operator=(const StreamThatNeverIdles&) = delete;
};

MATCHER_P(IsAbout, duration, "") {
  return std::abs((arg - nanoseconds(duration)).count()) < 1000;
}

TEST(DeviceTime, IsTheTimeOnTheStreamNotOfTheLaunch) {
  const at::Tensor tensor = FakeDevice::tensor();
  const StreamThatNeverIdles stream;
  OpProfiler profiler;
  FakeDevice::work(tensor, 30'000);
  FakeDevice::work(tensor, 10'000);
  profiler.stop();
  const OpStats work = onDevice(profiler, "fake::work");
  EXPECT_EQ(work.calls, 2U);
  EXPECT_THAT(work.total, IsAbout(milliseconds(40)));
  EXPECT_THAT(work.self, IsAbout(milliseconds(40)));
}

TEST(DeviceTime, IsTheTimeOfTheOutermostCall) {
  const StreamThatNeverIdles stream;
  OpProfiler profiler;
  FakeDevice::workTwice(FakeDevice::tensor(), 2'000);
  profiler.stop();
  EXPECT_EQ(onDevice(profiler, "fake::work").calls, 0U);
  EXPECT_THAT(onDevice(profiler, "fake::work_twice").total, IsAbout(milliseconds(4)));
}

TEST(DeviceTime, LeavesOutCallsOnTheHost) {
  OpProfiler profiler;
  at::mm(at::ones({2, 2}), at::ones({2, 2}));
  profiler.stop();
  for (const OpStats& op : profiler.profile().operators) {
    EXPECT_NE(op.kind, SpanKind::kDevice) << op.name;
  }
}

TEST(DeviceTime, CanBeLeftOut) {
  OpProfilerOptions options;
  options.deviceTimes = false;
  OpProfiler profiler(options);
  FakeDevice::work(FakeDevice::tensor(), 1);
  profiler.stop();
  EXPECT_EQ(onDevice(profiler, "fake::work").calls, 0U);
}

TEST(DeviceTime, CountsInTheStepThatAskedForIt) {
  const StreamThatNeverIdles stream;
  OpProfilerOptions options;
  options.schedule.warmup = 1;
  options.schedule.active = 1;
  options.schedule.repeat = 1;
  OpProfiler profiler(options);
  FakeDevice::work(FakeDevice::tensor(), 5'000);  // continues while the window is open
  profiler.step();
  FakeDevice::work(FakeDevice::tensor(), 7'000);  // continues after its end
  profiler.step();
  FakeDevice::work(FakeDevice::tensor(), 9'000);
  profiler.stop();
  EXPECT_EQ(onDevice(profiler, "fake::work").calls, 1U);
  EXPECT_THAT(onDevice(profiler, "fake::work").total, IsAbout(milliseconds(7)));
}

TEST(DeviceTime, NeverLetsTheTrainingThreadWait) {
  OpProfilerOptions options;
  options.schedule.active = 1;
  FakeDevice::work(FakeDevice::tensor(), 1);
  {
    OpProfiler first;  // compares the clocks
    FakeDevice::work(FakeDevice::tensor(), 1);
  }
  FakeDevice::takeWaits();
  {
    OpProfiler profiler(options);
    for (int i = 0; i < 5; ++i) {
      FakeDevice::work(FakeDevice::tensor(), 2'000);
      profiler.step();
    }
  }
  const std::vector<std::thread::id> waits = FakeDevice::takeWaits();
  EXPECT_THAT(waits, AllOf(SizeIs(::testing::Ge(5U)), Each(Ne(std::this_thread::get_id()))));
}

TEST(DeviceTime, UsesEventsAgain) {
  const auto profileCalls = [] {
    OpProfiler profiler;
    for (int i = 0; i < 20; ++i) {
      FakeDevice::work(FakeDevice::tensor(), 1);
    }
    profiler.stop();
    EXPECT_EQ(onDevice(profiler, "fake::work").calls, 20U);
  };
  profileCalls();
  const std::int64_t before = FakeDevice::eventsCreated();
  for (int i = 0; i < 10; ++i) {
    profileCalls();
  }
  // At most as many as one round can have in flight, and one to compare the clocks again.
  EXPECT_LE(FakeDevice::eventsCreated() - before, 2 * 20 + 1);
}

TEST(DeviceTime, IsARowOfItsStreamInTheTrace) {
  const testing::TempDir dir;
  std::vector<Trace> traces;
  OpProfilerOptions options;
  options.shapes = true;
  options.logDir = dir.string();
  options.onTrace = [&](const Trace& trace, SummaryWriter*, std::int64_t) {
    traces.push_back(trace);
  };
  const StreamThatNeverIdles busy;
  {
    OpProfiler profiler(options);
    FakeDevice::work(FakeDevice::tensor(), 3'000);
    FakeDevice::work(FakeDevice::tensor(), 4'000);
    profiler.stop();
    EXPECT_TRUE(profiler.flush().ok());
  }
  ASSERT_THAT(traces, SizeIs(1));
  const std::string path = dir.string() + "/" + detail::profile::chromeTraceFileName(traces[0]);
  for (const Trace& trace : {traces[0], detail::profile::readChromeTrace(path).at(0)}) {
    const auto stream = std::find_if(trace.threads.begin(), trace.threads.end(),
                                     [](const TraceThread& thread) { return thread.device == 0; });
    ASSERT_NE(stream, trace.threads.end());
    EXPECT_EQ(stream->id, std::uint64_t{FakeDevice::kStreamId});
    ASSERT_THAT(stream->spans, SizeIs(2));
    const TraceSpan& first = stream->spans[0];
    const TraceSpan& second = stream->spans[1];
    EXPECT_THAT(nanoseconds(first.duration), IsAbout(milliseconds(3)));
    EXPECT_THAT(nanoseconds(second.duration), IsAbout(milliseconds(4)));
    EXPECT_THAT(nanoseconds(second.start - first.start), IsAbout(milliseconds(3)));
    EXPECT_EQ(trace.names[first.name].text, "fake::work");
    EXPECT_EQ(trace.names[first.name].kind, SpanKind::kDevice);
    EXPECT_EQ(trace.details[first.details].shapes, "[[0], []]");
  }
}

TEST(DeviceTime, IsDisabledWithAMessageIfADeviceHasNoEvents) {
  std::vector<std::string> messages;
  OpProfilerOptions options;
  options.onError = [&](const Status& status) { messages.push_back(status.message()); };
  FakeDevice::refuseEvents(true);
  {
    OpProfiler profiler(options);
    FakeDevice::work(FakeDevice::tensor(), 1);
    FakeDevice::work(FakeDevice::tensor(), 1);
    profiler.stop();
    EXPECT_EQ(onDevice(profiler, "fake::work").calls, 0U);
  }
  FakeDevice::refuseEvents(false);
  EXPECT_THAT(messages, ElementsAre(AllOf(HasSubstr("privateuseone is not timed any further"),
                                          HasSubstr("the fake device has no events"))));

  OpProfiler again;
  FakeDevice::work(FakeDevice::tensor(), 1);
  again.stop();
  EXPECT_EQ(onDevice(again, "fake::work").calls, 1U);
}

}  // namespace
}  // namespace steptape
