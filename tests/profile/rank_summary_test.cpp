// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "profile/trace/trace_builder.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using std::chrono::nanoseconds;

Trace traceWith(const std::string& name, SpanKind kind, std::vector<std::int64_t> durations) {
  TraceBuilder builder;
  std::int64_t time = 0;
  for (const std::int64_t duration : durations) {
    builder.span(0, name, kind, time, time + duration);
    time += duration + 10;
  }
  return builder.take();
}

TEST(SummarizeRanks, ReportsMeanAndMaximumAndItsRank) {
  const std::vector<Trace> traces{traceWith("aten::mm", SpanKind::kOperator, {100, 100}),
                                  traceWith("aten::mm", SpanKind::kOperator, {300, 200}),
                                  traceWith("aten::mm", SpanKind::kOperator, {200})};
  const std::vector<RankedOpStats> operators = summarizeRanks(traces);
  ASSERT_EQ(operators.size(), 1U);
  EXPECT_EQ(operators[0].name, "aten::mm");
  EXPECT_EQ(operators[0].kind, SpanKind::kOperator);
  EXPECT_EQ(operators[0].calls, 5U);
  EXPECT_EQ(operators[0].meanSelf, nanoseconds(300));
  EXPECT_EQ(operators[0].meanTotal, nanoseconds(300));
  EXPECT_EQ(operators[0].maxSelf, nanoseconds(500));
  EXPECT_EQ(operators[0].maxTrace, 1U);
}

TEST(SummarizeRanks, CountsARankWithoutTheOperatorAsZero) {
  const std::vector<Trace> traces{traceWith("aten::relu", SpanKind::kOperator, {50}),
                                  traceWith("aten::mm", SpanKind::kOperator, {400})};
  const std::vector<RankedOpStats> operators = summarizeRanks(traces);
  ASSERT_EQ(operators.size(), 2U);
  EXPECT_EQ(operators[0].name, "aten::mm");
  EXPECT_EQ(operators[0].meanSelf, nanoseconds(200));
  EXPECT_EQ(operators[0].maxSelf, nanoseconds(400));
  EXPECT_EQ(operators[0].maxTrace, 1U);
  EXPECT_EQ(operators[1].meanSelf, nanoseconds(25));
  EXPECT_EQ(operators[1].maxTrace, 0U);
}

TEST(SummarizeRanks, KeepsKindsApart) {
  const std::vector<Trace> traces{traceWith("step", SpanKind::kZone, {50}),
                                  traceWith("step", SpanKind::kUserScope, {60})};
  EXPECT_EQ(summarizeRanks(traces).size(), 2U);
}

TEST(SummarizeRanks, GroupsByShape) {
  TraceBuilder builder;
  builder.trace().details.resize(3);
  builder.trace().details[1].shapes = "[[2, 2]]";
  builder.trace().details[2].shapes = "[[8, 8]]";
  builder.span(0, "aten::mm", SpanKind::kOperator, 0, 10).details = 1;
  builder.span(0, "aten::mm", SpanKind::kOperator, 20, 60).details = 2;
  const std::vector<Trace> traces{builder.take()};
  const std::vector<RankedOpStats> operators = summarizeRanks(traces, OpGrouping::kShape);
  ASSERT_EQ(operators.size(), 2U);
  EXPECT_EQ(operators[0].shapes, "[[8, 8]]");
  EXPECT_EQ(operators[1].shapes, "[[2, 2]]");
}

TEST(SummarizeRanks, OfNothingIsNothing) {
  EXPECT_TRUE(summarizeRanks({}).empty());
}

}  // namespace
}  // namespace steptape
