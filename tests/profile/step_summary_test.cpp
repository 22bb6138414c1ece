// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "profile/span_chain.h"
#include "profile/tables/time_intervals.h"
#include "profile/trace/overlapping_trace.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::profile::TimeInterval;
using ::testing::ElementsAre;

std::int64_t partsOf(const StepSummary& step) {
  std::int64_t sum = 0;
  for (const StepSummaryPart& part : kStepSummaryParts) {
    sum += step.*part.nanos;
  }
  return sum;
}

TEST(SummarizeSteps, DividesWhatCrossesAStepAtItsEnd) {
  const Trace trace = SpanChain()
                          .step(0, 0, 500)
                          .step(1, 500, 1000)
                          .op("across", 400, 700)
                          .onThread(1)
                          .op("elsewhere", 0, 400)
                          .build();
  const std::vector<StepSummary> steps = summarizeSteps(trace);
  EXPECT_EQ(steps.at(0).forward, 100);
  EXPECT_EQ(steps.at(0).other, 400);
  EXPECT_EQ(steps.at(1).forward, 200);
  EXPECT_EQ(steps.at(1).other, 300);
}

TEST(SummarizeSteps, CountsAScopeThatOutlivesTheCallThatOpenedIt) {
  const Trace trace = SpanChain()
                          .step(1, 0, 1000)
                          .span("enter", SpanKind::kZone, 399, 401)
                          .span("Optimizer.step#Adam.step", SpanKind::kUserScope, 400, 900)
                          .op("add_", 450, 750)
                          .build();
  EXPECT_EQ(summarizeSteps(trace).at(0).optimizer, 500);
}

// DistributedDataParallel waits for Gloo's thread in the thread of backward(), without a span.
TEST(SummarizeSteps, CountsIdleTimeBesideACollectiveAsTransfer) {
  const Trace trace = SpanChain()
                          .step(1, 0, 1000)
                          .span("step", SpanKind::kUserScope, 0, 900)
                          .op("mm", 100, 300)
                          .span("Optimizer.step#SGD.step", SpanKind::kUserScope, 850, 900)
                          .onThread(1)
                          .span("gloo:all_reduce", SpanKind::kCollective, 200, 600)
                          .span("gloo:all_reduce", SpanKind::kCollective, 860, 950)
                          .build();
  const StepSummary step = summarizeSteps(trace).at(0);
  EXPECT_EQ(step.forward, 200) << "an operator runs";
  EXPECT_EQ(step.optimizer, 50);
  EXPECT_EQ(step.transfer, 300 + 50) << "in the scope, and after it";
  EXPECT_EQ(step.other, 400);
}

// With Lightning's manual optimization the backward pass is a call inside training_step, without a
// span of its own.
TEST(SummarizeSteps, CountsIdleTimeOfATrainingStepBesideACollectiveAsTransfer) {
  const Trace trace =
      SpanChain()
          .step(1, 0, 1000)
          .span("[pl][profile][Strategy]DDPStrategy.training_step", SpanKind::kUserScope, 100, 900)
          .op("mm", 200, 300)
          .onThread(1)
          .span("gloo:all_reduce", SpanKind::kCollective, 250, 800)
          .build();
  const StepSummary step = summarizeSteps(trace).at(0);
  EXPECT_EQ(step.transfer, 500);
  EXPECT_EQ(step.forward, 300);
}

// Steptape's own threads state when they wait.
TEST(SummarizeSteps, CountsIdleTimeAsOtherIfTheTraceHasWaits) {
  const Trace trace = SpanChain()
                          .step(1, 0, 1000)
                          .onThread(1)
                          .span("gloo:all_reduce", SpanKind::kCollective, 200, 600)
                          .span("wait for ranks", SpanKind::kWait, 200, 400)
                          .build();
  EXPECT_EQ(summarizeSteps(trace).at(0).transfer, 0);
}

TEST(SummarizeSteps, CountsTheWaitForACollectiveOfADeviceAsTransfer) {
  Trace trace = SpanChain()
                    .step(1, 0, 1000)
                    .op("aten::item", 100, 700)
                    .span("cudaStreamSynchronize", SpanKind::kRuntime, 110, 690)
                    .op("aten::mm", 700, 900)
                    .span("cudaLaunchKernel", SpanKind::kRuntime, 710, 890)
                    .onThread(1)
                    .span("sgemm", SpanKind::kDevice, 0, 200)
                    .span("ncclDevKernel_AllReduce_Sum_f32_RING_LL", SpanKind::kDevice, 200, 500)
                    .span("sgemm", SpanKind::kDevice, 500, 800)
                    .span("ncclDevKernel_AllReduce_Sum_f32_RING_LL", SpanKind::kDevice, 800, 900)
                    .build();
  trace.threads[1].device = 0;
  const StepSummary step = summarizeSteps(trace).at(0);
  EXPECT_EQ(step.transfer, 300) << "a launch does not wait";
  EXPECT_EQ(step.forward, 800 - 300);
  EXPECT_EQ(step.other, 200);
}

TEST(SummarizeSteps, DividesAllOfEachStepAmongItsParts) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    for (const StepSummary& step : summarizeSteps(overlappingTrace(seed))) {
      EXPECT_EQ(partsOf(step), step.total);
      for (const StepSummaryPart& part : kStepSummaryParts) {
        EXPECT_GE(step.*part.nanos, 0) << part.name;
      }
    }
  }
}

// The call that ends a scope begins inside it, and outlives it.
TEST(SummarizeSteps, CountsAScopeUpToItsEndInsideTheCallThatEndsIt) {
  const Trace trace = SpanChain()
                          .step(1, 0, 10'000)
                          .span("next", SpanKind::kZone, 0, 9'000)
                          .span("enumerate(DataLoader)#x", SpanKind::kInput, 100, 6'000)
                          .span("__exit__", SpanKind::kZone, 5'000, 8'000)
                          .op("detach", 7'000, 7'500)
                          .build();
  const StepSummary step = summarizeSteps(trace).at(0);
  EXPECT_EQ(step.input, 5'900);
  EXPECT_EQ(step.forward, 500);
  EXPECT_EQ(step.other, 3'600);
}

TEST(SummarizeSteps, GivesEachMomentToThePartOfTheLastScopeThatIsOpen) {
  const auto partOf = [](SpanKind kind) -> std::int64_t StepSummary::* {
    switch (kind) {
      case SpanKind::kInput:
        return &StepSummary::input;
      case SpanKind::kWait:
        return &StepSummary::wait;
      case SpanKind::kCollective:
        return &StepSummary::transfer;
      case SpanKind::kBackward:
        return &StepSummary::backward;
      default:
        return nullptr;
    }
  };
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = overlappingTrace(seed);
    std::vector<StepSummary> expected(trace.steps.size());
    const std::vector<StepSummary> steps = summarizeSteps(trace);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const TraceStep& step = trace.steps[i];
      std::vector<TraceSpan> scopes = trace.threads[step.thread].spans;
      scopes.erase(std::remove_if(scopes.begin(), scopes.end(),
                                  [&](const TraceSpan& span) {
                                    return partOf(trace.names[span.name].kind) == nullptr;
                                  }),
                   scopes.end());
      const std::vector<int> owners = ownersOf(scopes);
      for (std::int64_t t = step.start; t < step.start + step.duration; ++t) {
        const int owner = owners[static_cast<std::size_t>(t)];
        if (owner >= 0) {
          ++(expected[i].*partOf(trace.names[scopes[static_cast<std::size_t>(owner)].name].kind));
        }
      }
      for (const StepSummaryPart& part : kStepSummaryParts) {
        if (part.nanos != &StepSummary::forward && part.nanos != &StepSummary::other) {
          EXPECT_EQ(steps[i].*part.nanos, expected[i].*part.nanos) << part.name;
        }
      }
    }
  }
}

TEST(Summarize, AddsUpToTheTimeThatTheSpansCover) {
  for (const OpGrouping grouping : {OpGrouping::kName, OpGrouping::kStack}) {
    for (unsigned seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(seed);
      const Trace trace = overlappingTrace(seed);
      std::int64_t covered = 0;
      for (const TraceThread& thread : trace.threads) {
        for (const int owner : ownersOf(thread.spans)) {
          covered += owner >= 0 ? 1 : 0;
        }
      }
      std::chrono::nanoseconds self{};
      for (const OpStats& op : summarize(trace, grouping).operators) {
        EXPECT_GE(op.self.count(), 0);
        self += op.self;
      }
      EXPECT_EQ(self.count(), covered);
    }
  }
}

TEST(Summarize, CountsOnlyTimeOfTheWindowAsCovered) {
  Trace trace = SpanChain().op("early", -100, 50).op("late", 900, 1200).build();
  trace.duration = 1000;
  EXPECT_EQ(summarize(trace).covered, std::chrono::nanoseconds(150));
}

TEST(TimeIntervals, AreUnitedAndSubtracted) {
  std::vector<TimeInterval> a{{50, 60}, {0, 10}, {10, 20}, {15, 30}, {70, 90}};
  detail::profile::unite(&a);
  EXPECT_THAT(a, ElementsAre(TimeInterval(0, 30), TimeInterval(50, 60), TimeInterval(70, 90)));
  EXPECT_THAT(detail::profile::without(a, {{5, 10}, {20, 55}, {58, 75}, {80, 85}}),
              ElementsAre(TimeInterval(0, 5), TimeInterval(10, 20), TimeInterval(55, 58),
                          TimeInterval(75, 80), TimeInterval(85, 90)));
  EXPECT_THAT(detail::profile::without(a, {{-10, 100}}), ElementsAre());
  EXPECT_EQ(detail::profile::without(a, {}), a);
  detail::profile::CommonTime common(a);
  EXPECT_EQ(common.with({-5, 55}), 35);
  EXPECT_EQ(common.with({20, 80}), 30);
  EXPECT_EQ(common.with({90, 95}), 0);
}

}  // namespace
}  // namespace steptape
