// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/trace_summary.h"

#include "steptape/ranks/testing.h"

#include "profile/logged_values.h"
#include "profile/record_builder.h"
#include "profile/span_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using std::chrono::nanoseconds;
using ::testing::HasSubstr;

SpanDetails detailsOf(const char* shapes, const char* module, double flops) {
  SpanDetails details;
  details.shapes = shapes;
  details.module = module;
  details.flops = flops;
  return details;
}

TEST(Summarize, TakesTheTimeOfDirectChildrenFromTheirParentOnly) {
  const Trace trace =
      SpanChain().op("outer", 0, 100).op("middle", 10, 60).op("leaf", 20, 30).build();
  const OpProfile profile = summarize(trace);
  EXPECT_EQ(find(profile, "outer").self, nanoseconds(50));
  EXPECT_EQ(find(profile, "outer").total, nanoseconds(100));
  EXPECT_EQ(find(profile, "middle").self, nanoseconds(40));
  EXPECT_EQ(find(profile, "leaf").self, nanoseconds(10));
}

TEST(Summarize, CountsTheTotalOfARecursiveSpanOnce) {
  const OpProfile profile = summarize(SpanChain().op("again", 0, 100).op("again", 10, 60).build());
  EXPECT_EQ(find(profile, "again").calls, 2U);
  EXPECT_EQ(find(profile, "again").total, nanoseconds(100));
  EXPECT_EQ(find(profile, "again").self, nanoseconds(100));
}

// A span that outlasts another by a rounding is inside it, and what follows it there is not.
TEST(Summarize, CountsTheTotalOfACallThatBeginsAfterAnotherHasEnded) {
  const Trace trace = SpanChain().op("mm", 0, 828).op("copy", 634, 957).op("mm", 932, 964).build();
  EXPECT_EQ(find(summarize(trace), "mm").total, nanoseconds(828 + 32));
}

TEST(Summarize, GivesDetachedSpansNoSelfTime) {
  const Trace trace = SpanChain()
                          .op("inner", 0, 100)
                          .span("async", SpanKind::kCollective, 10, 300, -1, kDetached)
                          .build();
  const OpProfile profile = summarize(trace);
  EXPECT_EQ(find(profile, "async").self, nanoseconds(0));
  EXPECT_EQ(find(profile, "async").total, nanoseconds(290));
  EXPECT_EQ(find(profile, "inner").self, nanoseconds(100));
}

TEST(Summarize, ReportsTheTimeThatAnyThreadCovered) {
  const Trace trace =
      SpanChain().op("a", 100, 300).op("b", 400, 500).onThread(1).op("c", 200, 450).build();
  EXPECT_EQ(summarize(trace).covered, nanoseconds(400));
  EXPECT_EQ(summarize(trace).wall, nanoseconds(1000));
}

TEST(Summarize, KeepsShapesApartWhenAsked) {
  const Trace trace = SpanChain()
                          .with(detailsOf("[[2, 3]]", "", 12))
                          .op("mm", 0, 10)
                          .op("mm", 10, 20)
                          .with(detailsOf("[[4, 5]]", "", 40))
                          .op("mm", 20, 50)
                          .build();
  const OpProfile byShape = summarize(trace, OpGrouping::kShape);
  ASSERT_EQ(byShape.operators.size(), 2U);
  EXPECT_EQ(byShape.operators[0].shapes, "[[4, 5]]");
  EXPECT_EQ(byShape.operators[0].calls, 1U);
  EXPECT_EQ(byShape.operators[1].calls, 2U);
  EXPECT_EQ(byShape.operators[1].flops, 24);
  EXPECT_EQ(summarize(trace).operators.size(), 1U);
}

TEST(Summarize, CountsForAModuleTheCallsOfItsOperators) {
  SpanDetails fc1 = detailsOf("", "fc1", 0);
  fc1.bytes = 640;
  const Trace trace = SpanChain()
                          .with(fc1)
                          .op("linear", 0, 100)
                          .withoutDetails()
                          .op("addmm", 20, 80)
                          .op("relu", 100, 130)
                          .build();
  const OpProfile byModule = summarize(trace, OpGrouping::kModule);
  EXPECT_EQ(find(byModule, "fc1").calls, 1U);
  EXPECT_EQ(find(byModule, "fc1").self, nanoseconds(100));
  EXPECT_EQ(find(byModule, "fc1").total, nanoseconds(100));
  EXPECT_EQ(find(byModule, "fc1").bytes, 640);
  EXPECT_EQ(find(byModule, "(no module)").self, nanoseconds(30));
}

TEST(Summarize, CountsABackwardNodeForTheModuleOfItsForwardOperator) {
  const Trace trace = SpanChain()
                          .with(detailsOf("", "fc1", 0))
                          .op("linear", 0, 100)
                          .withoutDetails()
                          .op("addmm", 20, 80, 7)
                          .span("AddmmBackward0", SpanKind::kBackward, 200, 300, 7)
                          .op("mm", 210, 290)
                          .build();
  EXPECT_EQ(find(summarize(trace, OpGrouping::kModule), "fc1").self, nanoseconds(200));
}

TEST(Summarize, FindsTheModulesOfTorchInTheSpansAroundTheirCalls) {
  const Trace trace = SpanChain()
                          .span("nn.Module: Net_0", SpanKind::kZone, 0, 100)
                          .op("dropout", 5, 10)
                          .span("nn.Module: Linear_0", SpanKind::kZone, 10, 60)
                          .op("addmm", 20, 50, 7)
                          .span("AddmmBackward0", SpanKind::kBackward, 200, 300, 7)
                          .build();
  const OpProfile byModule = summarize(trace, OpGrouping::kModule);
  EXPECT_EQ(byModule.operators.size(), 2U);
  EXPECT_EQ(find(byModule, "Net_0").self, nanoseconds(5));
  EXPECT_EQ(find(byModule, "Linear_0").self, nanoseconds(130));
}

TEST(SummarizeSteps, GivesEachMomentToTheInnermostPart) {
  const Trace trace = SpanChain()
                          .step(7, 0, 1000)
                          .span("load", SpanKind::kInput, 0, 100)
                          .op("stack", 10, 50)
                          .span("forward", SpanKind::kZone, 100, 400)
                          .op("conv", 150, 350)
                          .op("autograd::engine::evaluate_function: X", 400, 600)
                          .span("X", SpanKind::kBackward, 420, 580)
                          .op("mm", 430, 500)
                          .span("all_reduce", SpanKind::kCollective, 600, 700)
                          .span("wait for ranks", SpanKind::kWait, 600, 670)
                          .span("optimizer", SpanKind::kZone, 700, 900)
                          .op("add_", 720, 880)
                          .build();
  const std::vector<StepSummary> steps = summarizeSteps(trace);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].number, 7);
  EXPECT_EQ(steps[0].total, 1000);
  EXPECT_EQ(steps[0].input, 100);
  EXPECT_EQ(steps[0].forward, 200);
  EXPECT_EQ(steps[0].backward, 200);
  EXPECT_EQ(steps[0].transfer, 30);
  EXPECT_EQ(steps[0].wait, 70);
  EXPECT_EQ(steps[0].optimizer, 200);
  EXPECT_EQ(steps[0].other, 200) << "the forward zone's own time and what nothing covers";
}

TEST(SummarizeSteps, TakesThePartsFromTheThreadOfTheSteps) {
  const Trace trace = SpanChain().onThread(1).step(0, 0, 500).op("conv", 100, 400).build();
  EXPECT_EQ(summarizeSteps(trace).at(0).forward, 300);
}

TEST(SummarizeMemory, ReportsMemoryInUseOnEachDeviceAfterEachEvent) {
  const Trace trace = SpanChain()
                          .memory(10, 1, 100)
                          .memory(20, 2, 50)
                          .memory(25, 3, 7, 1)
                          .memory(26, 3, 9, 1, 1)
                          .memory(30, 1, -100)
                          .memory(40, 9, -1000)
                          .build();
  using Points = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const std::vector<MemorySummary> memory = summarizeMemory(trace);
  ASSERT_EQ(memory.size(), 3U);
  EXPECT_EQ(memory[0].device, "cpu");
  EXPECT_EQ(memory[0].inUse, (Points{{10, 100}, {20, 150}, {30, 50}, {40, 50}}));
  EXPECT_EQ(memory[1].device, "cuda:0");
  EXPECT_EQ(memory[1].inUse, (Points{{25, 7}}));
  EXPECT_EQ(memory[2].device, "cuda:1");
  EXPECT_EQ(memory[2].inUse, (Points{{26, 9}}));
}

TEST(SummarizeMemory, ReportsWhichOperatorsHeldMemoryAtThePeak) {
  const Trace trace = SpanChain()
                          .op("conv", 0, 100)
                          .op("empty", 10, 20)
                          .op("relu", 200, 300)
                          .memory(15, 0x10, 1000)
                          .memory(50, 0x20, 500)
                          .memory(150, 0x20, -500)
                          .memory(250, 0x30, 800)
                          .memory(400, 0x10, -1000)
                          .memory(500, 0x99, -64)
                          .build();
  const MemorySummary memory = summarizeMemory(trace).at(0);
  EXPECT_EQ(memory.peak, 1800);
  EXPECT_EQ(memory.peakTime, 250);
  ASSERT_EQ(memory.operators.size(), 4U);
  EXPECT_EQ(memory.operators[0].name, "empty");
  EXPECT_EQ(memory.operators[0].atPeak, 1000);
  EXPECT_EQ(memory.operators[1].name, "relu");
  EXPECT_EQ(memory.operators[1].atPeak, 800);
  EXPECT_EQ(memory.operators[2].name, "conv");
  EXPECT_EQ(memory.operators[2].allocated, 500);
  EXPECT_EQ(memory.operators[2].atPeak, 0);
  EXPECT_EQ(memory.operators[3].name, "(no operator)");
  EXPECT_EQ(memory.operators[3].freed, 1564);
}

TEST(WriteTraceSummary, LogsTablesStepsAndMemory) {
  const testing::TempDir dir;
  const Trace trace = SpanChain()
                          .step(3, 0, 1000000)
                          .with(detailsOf("[[2, 3]]", "fc1", 12))
                          .op("linear", 0, 250000)
                          .memory(10, 0x10, 2500000)
                          .build();
  const auto log = [&](const std::string& directory, bool detailScalars) {
    OpTableOptions options;
    options.detailScalars = detailScalars;
    SummaryWriter writer(directory);
    writeTraceSummary(writer, trace, 4, options);
    EXPECT_TRUE(writer.close().ok());
  };
  log(dir.string() + "/tables", false);
  EXPECT_TRUE(readLogged(dir.string() + "/tables").scalars.empty());
  log(dir.string() + "/detail", true);
  const LoggedValues logged = readLogged(dir.string() + "/detail");
  EXPECT_EQ(logged.texts, readLogged(dir.string() + "/tables").texts);
  EXPECT_THAT(logged.texts.at({"profile/operators_by_shape", 4}),
              HasSubstr("| 1 | `linear` | [[2, 3]] | operator | 1 |"));
  EXPECT_THAT(logged.texts.at({"profile/operators_by_module", 4}), HasSubstr("| 1 | `fc1` | 1 |"));
  EXPECT_THAT(logged.texts.at({"profile/memory", 4}),
              HasSubstr("| `linear` | 1 | 2.50 | 0.00 | 2.50 |"));
  EXPECT_FLOAT_EQ(logged.scalars.at({"profile/step_ms/total", 3}), 1.0F);
  EXPECT_FLOAT_EQ(logged.scalars.at({"profile/step_ms/forward", 3}), 0.25F);
  EXPECT_FLOAT_EQ(logged.scalars.at({"profile/peak_memory_mb", 4}), 2.5F);
}

}  // namespace
}  // namespace steptape
