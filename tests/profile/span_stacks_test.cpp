// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/span_stacks.h"

#include <map>
#include <string>
#include <vector>

#include "steptape/process/zone.h"
#include "steptape/profile/profiler.h"
#include "steptape/profile/trace_summary.h"
#include "steptape/ranks/testing.h"

#include "process/spans/thread_recorder.h"
#include "profile/logged_values.h"
#include "profile/span_chain.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/xplane/xplane_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

/// Returns a step with an operator in two zones and a scope, whose backward node is on another
/// thread.
SpanChain smallStep() {
  SpanChain builder;
  builder.span("step", SpanKind::kZone, 0, 100'000)
      .span("forward", SpanKind::kUserScope, 10'000, 50'000)
      .op("aten::linear", 20'000, 40'000)
      .op("aten::addmm", 25'000, 35'000, 7)
      .op("aten::add_", 60'000, 70'000);
  builder.onThread(1)
      .op("engine: AddmmBackward0", 50'000, 90'000)
      .span("AddmmBackward0", SpanKind::kBackward, 55'000, 85'000, 7)
      .op("aten::mm", 60'000, 80'000);
  return builder;
}

/// Returns the stacks in the spans' details, by name.
std::map<std::string, std::string> argumentsOf(const Trace& trace) {
  std::map<std::string, std::string> arguments;
  for (const TraceThread& thread : trace.threads) {
    for (const TraceSpan& span : thread.spans) {
      arguments[trace.names[span.name].text] = trace.details[span.details].arguments;
    }
  }
  return arguments;
}

TEST(CallStacks, AreTheZonesAndScopesAroundAnOperator) {
  Trace trace = smallStep().build();
  detail::profile::addCallStacks(&trace);
  auto arguments = argumentsOf(trace);
  EXPECT_EQ(arguments["aten::addmm"], R"("Call stack": "step;forward")");
  EXPECT_EQ(arguments["aten::add_"], R"("Call stack": "step")");
  EXPECT_EQ(arguments["forward"], "") << "operators have one";
}

TEST(CallStacks, OfBackwardOperatorsAreThoseOfTheirForwardOperators) {
  Trace trace = smallStep().build();
  detail::profile::addCallStacks(&trace);
  auto arguments = argumentsOf(trace);
  EXPECT_EQ(arguments["AddmmBackward0"], R"("Call stack": "step;forward")");
  EXPECT_EQ(arguments["aten::mm"], R"("Call stack": "step;forward")");
  EXPECT_EQ(arguments["engine: AddmmBackward0"], "");
}

TEST(CallStacks, KeepWhatElseIsKnownOfACall) {
  SpanDetails details;
  details.shapes = "[[2, 3]]";
  details.arguments = "\"beta\": 1";
  SpanChain builder;
  builder.span("step", SpanKind::kZone, 0, 100).with(details).op("a", 10, 20).op("b", 20, 30);
  Trace trace = builder.build();
  const std::size_t before = trace.details.size();
  detail::profile::addCallStacks(&trace);
  EXPECT_EQ(trace.details.size(), before + 1) << "equal calls share their details";
  const SpanDetails& noted = trace.details.back();
  EXPECT_EQ(noted.shapes, "[[2, 3]]");
  EXPECT_EQ(noted.arguments, R"("beta": 1, "Call stack": "step")");
}

TEST(CallStacks, SurviveInAChromeTraceAsKinetoCallsThem) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.json";
  Trace trace = smallStep().build();
  detail::profile::addCallStacks(&trace);
  ASSERT_TRUE(detail::profile::writeChromeTrace(path, trace).ok());
  const std::vector<Trace> read = detail::profile::readChromeTrace(path);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(argumentsOf(read[0])["aten::mm"], R"("Call stack": "step;forward")");
}

TEST(CallStacks, SurviveInAProfileForXprof) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/host.xplane.pb";
  Trace trace = smallStep().build();
  detail::profile::addCallStacks(&trace);
  ASSERT_TRUE(detail::profile::writeXPlane(path, trace).ok());
  EXPECT_EQ(argumentsOf(detail::profile::readXPlane(path))["aten::mm"],
            R"("Call stack": "step;forward")");
}

TEST(CallStacks, AreRecordedAndLoggedIfRequested) {
  for (const bool wanted : {true, false}) {
    const testing::TempDir dir;
    Trace made;
    ProfilerOptions options;
    options.stacks = wanted;
    options.logDir = dir.string();
    options.onTrace = [&](const Trace& trace, SummaryWriter*, std::int64_t) { made = trace; };
    {
      Profiler profiler(options);
      {
        STEPTAPE_ZONE("step");
        detail::process::beginSpan(SpanKind::kOperator, "aten::mm", 0, SpanRecord::kNoPayload,
                                   &made);
        detail::process::endSpan(&made);
      }
    }
    EXPECT_EQ(argumentsOf(made)["aten::mm"], wanted ? R"("Call stack": "step")" : "");
    std::string tables;
    for (const auto& [key, text] : readLogged(dir.string() + "/profile").texts) {
      tables += key.first + "\n" + text;
    }
    EXPECT_EQ(tables.find("profile/operators_by_stack") != std::string::npos, wanted);
    EXPECT_EQ(tables.find("`step;aten::mm` | operator | 1 |") != std::string::npos, wanted);
  }
}

TEST(SummarizeByStack, DistinguishesCallsInDifferentZones) {
  SpanChain builder;
  builder.span("train", SpanKind::kZone, 0, 100)
      .op("aten::mm", 10, 30)
      .span("test", SpanKind::kZone, 100, 200)
      .op("aten::mm", 110, 120)
      .op("aten::mm", 120, 130);
  const OpProfile profile = summarize(builder.build(), OpGrouping::kStack);
  std::map<std::string, std::uint64_t> calls;
  for (const OpStats& op : profile.operators) {
    calls[op.name] = op.calls;
  }
  EXPECT_EQ(calls, (std::map<std::string, std::uint64_t>{
                       {"train", 1}, {"test", 1}, {"train;aten::mm", 1}, {"test;aten::mm", 2}}));
}

TEST(FoldedStacks, HaveTheSelfTimeOfEachPath) {
  const Trace trace = smallStep().build();
  EXPECT_EQ(foldedStacks(ArrayView<const Trace>(&trace, 1)),
            "engine: AddmmBackward0 10\n"
            "step 50\n"
            "step;aten::add_ 10\n"
            "step;forward 20\n"
            "step;forward;aten::linear 10\n"
            "step;forward;aten::linear;AddmmBackward0 10\n"
            "step;forward;aten::linear;AddmmBackward0;aten::mm 20\n"
            "step;forward;aten::linear;aten::addmm 10\n");
}

TEST(FoldedStacks, AddUpAndNameTheRanks) {
  SpanChain builder;
  builder.op("aten::mm", 0, 1500).op("aten::mm", 2000, 3500).op("aten::add", 4000, 4400);
  std::vector<Trace> ranks(2, builder.build());
  ranks[1].rank = 1;
  EXPECT_EQ(foldedStacks(ArrayView<const Trace>(ranks.data(), ranks.size())),
            "rank 0;aten::mm 3\nrank 1;aten::mm 3\n");
}

TEST(FoldedStacks, AreNotSplitBySemicolonsInNames) {
  SpanChain builder;
  builder.span("a;b\nc", SpanKind::kZone, 0, 9000).op("d", 1000, 4000);
  const Trace trace = builder.build();
  EXPECT_EQ(foldedStacks(ArrayView<const Trace>(&trace, 1)), "a,b c 6\na,b c;d 3\n");
}

TEST(FoldedStacks, CountNoDetachedSpan) {
  SpanChain builder;
  builder.span("allreduce", SpanKind::kCollective, 0, 9000, -1, kDetached).op("d", 1000, 4000);
  const Trace trace = builder.build();
  EXPECT_EQ(foldedStacks(ArrayView<const Trace>(&trace, 1)), "d 3\n");
}

}  // namespace
}  // namespace steptape
