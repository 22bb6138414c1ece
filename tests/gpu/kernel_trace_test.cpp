// SPDX-License-Identifier: Apache-2.0
// Kernels and copies of a real GPU, in a profile's trace.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "steptape/libtorch/op_profiler.h"
#include "steptape/profile/trace_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::int64_t kSteps = 3;

class KernelTrace : public ::testing::Test {
 protected:
  KernelTrace() {
    options_.schedule.warmup = 1;
    options_.schedule.active = kSteps;
    options_.schedule.repeat = 1;
    options_.onTrace = [this](const Trace& trace, SummaryWriter*, std::int64_t) { trace_ = trace; };
    options_.onError = [this](const Status& status) { problems_.push_back(status.message()); };
  }

  /// Profiles steps that multiply and copy. The caller's trace and profile are then complete.
  void profileSteps() {
    const at::Tensor left = at::rand({1024, 1024}, at::kCUDA);
    const at::Tensor right = at::rand({1024, 1024}, at::kCUDA);
    const at::Tensor onHost = at::rand({1024, 1024});
    OpProfiler profiler(options_);
    for (std::int64_t step = 0; step <= kSteps; ++step) {
      const at::Tensor product = at::mm(left, right);
      const at::Tensor copy = onHost.to(at::kCUDA);
      profiler.step();
    }
    profiler.stop();
    EXPECT_TRUE(profiler.flush().ok());
    profile_ = profiler.profile();
  }

  std::vector<std::string> namesOf(SpanKind kind) const {
    std::vector<std::string> names;
    for (const TraceThread& thread : trace_.threads) {
      for (const TraceSpan& span : thread.spans) {
        if (trace_.names[span.name].kind == kind) {
          names.push_back(trace_.names[span.name].text);
        }
      }
    }
    return names;
  }

  OpProfilerOptions options_;
  Trace trace_;
  OpProfile profile_;
  std::vector<std::string> problems_;
};

TEST_F(KernelTrace, HasKernelsAndCopiesUnderTheirNames) {
  profileSteps();
  EXPECT_THAT(problems_, IsEmpty());
  const std::vector<std::string> work = namesOf(SpanKind::kDevice);
  EXPECT_THAT(work, Contains(AnyOf(HasSubstr("gemm"), HasSubstr("cutlass"))).Times(kSteps));
  EXPECT_THAT(work, Contains(HasSubstr("Memcpy HtoD")).Times(kSteps));
  EXPECT_THAT(work, Each(Not(HasSubstr("aten::"))));  // nothing counts twice
  EXPECT_THAT(namesOf(SpanKind::kRuntime), SizeIs(Ge(2U * kSteps)));
}

TEST_F(KernelTrace, LinksKernelsToTheOperatorThatLaunchedThem) {
  profileSteps();
  const std::vector<DeviceSummary> devices = summarizeDevices(trace_);
  ASSERT_THAT(devices, SizeIs(1));
  EXPECT_THAT(devices[0].launchers, Contains(Field(&LaunchSummary::name, "aten::mm")));
  EXPECT_THAT(devices[0].launchers, Contains(Field(&LaunchSummary::name, "aten::copy_")));
  EXPECT_THAT(devices[0].launchers, Each(Field(&LaunchSummary::name, Not("(no operator)"))));
}

TEST_F(KernelTrace, StartsNothingBeforeItsLaunch) {
  profileSteps();
  const std::vector<TraceLink> links = linkLaunches(trace_);
  EXPECT_THAT(links, SizeIs(Ge(2U * kSteps)));
  for (const TraceLink& link : links) {
    EXPECT_GE(trace_.threads[link.toThread].spans[link.toSpan].start,
              trace_.threads[link.fromThread].spans[link.fromSpan].start);
  }
}

TEST_F(KernelTrace, PutsCallsOnTheThreadThatMadeThem) {
  profileSteps();
  std::set<std::size_t> threads;
  for (const TraceLink& link : linkLaunches(trace_)) {
    threads.insert(link.fromThread);
  }
  ASSERT_THAT(threads, SizeIs(1));
  EXPECT_EQ(*threads.begin(), trace_.steps.at(0).thread);
}

TEST_F(KernelTrace, AgreesWithTheTimeOfTheEvents) {
  const auto deviceTime = [this] {
    std::int64_t nanos = 0;
    for (const OpStats& op : profile_.operators) {
      nanos += op.kind == SpanKind::kDevice ? op.total.count() : 0;
    }
    return static_cast<double>(nanos);
  };
  profileSteps();
  const double byKernels = deviceTime();
  options_.kernels = false;
  profileSteps();
  const double byEvents = deviceTime();
  EXPECT_GT(byKernels, 0);
  EXPECT_LE(byKernels, byEvents * 1.5);  // events include waits for the host
  EXPECT_THAT(namesOf(SpanKind::kDevice), Each(HasSubstr("aten::")));
}

TEST_F(KernelTrace, RecordsEachWindow) {
  options_.schedule.repeat = 2;
  options_.schedule.active = 1;
  int windows = 0;
  options_.onTrace = [&](const Trace& trace, SummaryWriter*, std::int64_t) {
    trace_ = trace;
    ++windows;
    EXPECT_THAT(namesOf(SpanKind::kDevice), Contains(HasSubstr("Memcpy HtoD")).Times(1));
  };
  profileSteps();  // a step of warm-up and one of recording, twice
  EXPECT_EQ(windows, 2);
}

}  // namespace
}  // namespace steptape
