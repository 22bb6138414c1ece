// SPDX-License-Identifier: Apache-2.0
#include "profile/record_builder.h"
#include "profile/recorder/op_stats_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

constexpr std::uint64_t kUnit = 1000000;  // ticks, so that a nanosecond of rounding cannot matter

class OpStatsTest : public ::testing::Test {
 protected:
  void add(const std::vector<SpanRecord>& records, std::uint64_t threadId = 1,
           std::uint64_t dropped = 0) {
    std::vector<SpanRecord> scaled = records;
    for (SpanRecord& record : scaled) {
      record.startTicks *= kUnit;
      record.endTicks *= kUnit;
    }
    builder_.add(batch(scaled, threadId, dropped));
  }
  OpProfile build() const { return builder_.build(kWindowEnd * kUnit, TickConverter()); }
  OpStats stats(std::string_view name) const { return find(build(), name); }
  static std::chrono::nanoseconds units(std::uint64_t count) { return nanos(count * kUnit); }

  static constexpr std::uint64_t kWindowStart = 100;
  static constexpr std::uint64_t kWindowEnd = 200;
  detail::profile::OpStatsBuilder builder_{kWindowStart * kUnit};
};

TEST_F(OpStatsTest, TakesTheTimeOfDirectChildrenFromTheirParentOnly) {
  add({span("leaf", 2, 112, 115), span("middle", 1, 111, 117), span("outer", 0, 110, 120)});
  EXPECT_EQ(stats("leaf").self, units(3));
  EXPECT_EQ(stats("middle").self, units(3));
  EXPECT_EQ(stats("outer").self, units(4));
  EXPECT_EQ(stats("outer").total, units(10));
}

TEST_F(OpStatsTest, AddsUpCallsOfOneName) {
  add({span("op", 0, 110, 112), span("op", 0, 113, 118)});
  EXPECT_EQ(stats("op").calls, 2U);
  EXPECT_EQ(stats("op").self, units(7));
  EXPECT_EQ(stats("op").total, units(7));
}

TEST_F(OpStatsTest, CountsTheTotalOfARecursiveSpanOnce) {
  add({span("recursive", 2, 112, 114, kNestedInItself),
       span("recursive", 1, 111, 116, kNestedInItself), span("recursive", 0, 110, 120)});
  EXPECT_EQ(stats("recursive").calls, 3U);
  EXPECT_EQ(stats("recursive").total, units(10));
  EXPECT_EQ(stats("recursive").self, units(10));
}

TEST_F(OpStatsTest, CountsTheSpansOfADeviceOnTopOfThoseOfThreads) {
  std::vector<SpanRecord> kernels{span("kernel", 0, 110, 114), span("kernel", 0, 114, 115)};
  for (SpanRecord& kernel : kernels) {
    kernel.startTicks *= kUnit;
    kernel.endTicks *= kUnit;
  }
  detail::process::SpanBatch stream = batch(kernels, 1, 2);
  stream.device = 0;
  add({span("child", 1, 111, 114)}, 1);
  builder_.add(stream);  // a stream with the number of that thread
  add({span("parent", 0, 110, 120)}, 1);
  EXPECT_EQ(stats("kernel").calls, 2U);
  EXPECT_EQ(stats("kernel").self, units(5));
  EXPECT_EQ(stats("parent").self, units(7)) << "without its child alone";
  EXPECT_EQ(build().covered, units(10)) << "by threads";
  EXPECT_EQ(build().dropped, 2U);
}

TEST_F(OpStatsTest, KeepsThreadsApart) {
  add({span("child", 1, 111, 114)}, 1);
  add({span("other parent", 0, 110, 120)}, 2);
  add({span("parent", 0, 110, 120)}, 1);
  EXPECT_EQ(stats("other parent").self, units(10));
  EXPECT_EQ(stats("parent").self, units(7));
}

TEST_F(OpStatsTest, LeavesOutSpansThatBeganBeforeTheWindow) {
  add({span("before", 1, 96, 98), span("inside", 1, 110, 112), span("across", 0, 95, 120)});
  EXPECT_EQ(stats("before").calls, 0U);
  EXPECT_EQ(stats("across").calls, 0U);
  EXPECT_EQ(stats("inside").self, units(2));
  add({span("next", 0, 130, 140)});
  EXPECT_EQ(stats("next").self, units(10));
}

TEST_F(OpStatsTest, GivesDetachedSpansNoSelfTime) {
  add({span("async", 0, 105, 150, kDetached), span("parent", 0, 110, 120)});
  EXPECT_EQ(stats("async").self, units(0));
  EXPECT_EQ(stats("async").total, units(45));
  EXPECT_EQ(stats("parent").self, units(10));
}

TEST_F(OpStatsTest, DoesNotSubtractTheChildrenOfALostParentFromTheNextSpan) {
  add({span("orphan", 1, 110, 119)}, 1, 1);
  add({span("next", 0, 120, 130)});
  EXPECT_EQ(stats("next").self, units(10));
  EXPECT_EQ(build().dropped, 1U);
}

TEST_F(OpStatsTest, SortsTheMostSelfTimeFirst) {
  add({span("short", 0, 110, 111), span("long", 0, 112, 118), span("medium", 0, 120, 123)});
  const OpProfile profile = build();
  ASSERT_EQ(profile.operators.size(), 3U);
  EXPECT_EQ(profile.operators[0].name, "long");
  EXPECT_EQ(profile.operators[1].name, "medium");
  EXPECT_EQ(profile.operators[2].name, "short");
}

TEST_F(OpStatsTest, ReportsTheWindowAndItsCoveredPart) {
  add({span("child", 1, 111, 114), span("a", 0, 110, 120)}, 1);
  add({span("b", 0, 115, 130)}, 2);
  EXPECT_EQ(build().wall, units(100));
  EXPECT_EQ(build().covered, units(20));
}

TEST_F(OpStatsTest, KeepsKindsOfOneNameApart) {
  SpanRecord zone = span("same", 0, 110, 112);
  zone.kind = SpanKind::kZone;
  zone.nameId = internSpanName(SpanKind::kZone, "same");
  add({zone, span("same", 0, 120, 125)});
  const OpProfile profile = build();
  ASSERT_EQ(profile.operators.size(), 2U);
  EXPECT_EQ(profile.operators[0].kind, SpanKind::kOperator);
  EXPECT_EQ(profile.operators[1].kind, SpanKind::kZone);
}

TEST(SpanName, IsOneNumberForOneText) {
  const std::string copy = std::string("aten::") + "mm";
  const std::uint16_t id = internSpanName(SpanKind::kOperator, "aten::mm");
  EXPECT_EQ(internSpanName(SpanKind::kOperator, copy), id);
  EXPECT_NE(internSpanName(SpanKind::kZone, copy), id);
  EXPECT_EQ(spanName(id), "aten::mm");
}

TEST(OperatorTimes, AreTheMeanOfAllCallsOfAnOperator) {
  OpProfile profile;
  profile.operators = {{"aten::mm", SpanKind::kOperator, 4, {}, std::chrono::nanoseconds(100)},
                       {"load batch", SpanKind::kZone, 1, {}, std::chrono::nanoseconds(5)},
                       {"aten::mm", SpanKind::kBackward, 1, {}, std::chrono::nanoseconds(7)}};
  EXPECT_THAT(operatorTimes(profile),
              ::testing::ElementsAre(::testing::Pair("aten::mm", std::chrono::nanoseconds(25))));
}

}  // namespace
}  // namespace steptape
