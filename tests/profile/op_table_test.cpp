// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/trace_summary.h"
#include "steptape/ranks/testing.h"

#include "profile/logged_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;
using ::testing::Not;

OpProfile twoOperators() {
  OpProfile profile;
  profile.operators = {{"aten::mm", SpanKind::kOperator, 7, microseconds(1500), microseconds(1750)},
                       {"load_batch", SpanKind::kZone, 2, microseconds(500), nanoseconds(2000999)}};
  profile.wall = microseconds(4000);
  profile.covered = microseconds(3500);
  return profile;
}

TEST(OpTable, HasARowForEachOperatorAndStatesTheCoverage) {
  EXPECT_EQ(opTable(twoOperators()),
            "| # | operator | kind | calls | self ms | self % | total ms | mean µs |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
            "| 1 | `aten::mm` | operator | 7 | 1.500 | 75.0 | 1.750 | 250.000 |\n"
            "| 2 | `load_batch` | zone | 2 | 0.500 | 25.0 | 2.001 | 1000.499 |\n"
            "\n"
            "Window of 4.000 ms, 87.5 % of it inside recorded spans.\n");
}

TEST(OpTable, StatesHowManyRowsAreOmitted) {
  OpTableOptions options;
  options.maxRows = 1;
  const std::string table = opTable(twoOperators(), options);
  EXPECT_THAT(table, Not(HasSubstr("load_batch")));
  EXPECT_THAT(table, HasSubstr(" The 1 operators with the least self time are left out."));
}

TEST(OpTable, StatesHowManySpansWereDropped) {
  OpProfile profile = twoOperators();
  profile.dropped = 12;
  EXPECT_THAT(opTable(profile),
              HasSubstr(" **12 spans were dropped**: raise recordsPerThread or call step() more "
                        "often."));
}

TEST(OpTable, HasOnlyAHeaderWithoutOperators) {
  EXPECT_EQ(opTable({}),
            "| # | operator | kind | calls | self ms | self % | total ms | mean µs |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
            "\n"
            "Window of 0.000 ms, 0.0 % of it inside recorded spans.\n");
}

TEST(WriteOpStats, LogsTheTableAlone) {
  const testing::TempDir dir;
  {
    SummaryWriter writer(dir.string());
    OpProfile profile = twoOperators();
    profile.overhead = 0.01;
    writeOpStats(writer, profile, 42);
    EXPECT_TRUE(writer.close().ok());
  }
  const LoggedValues logged = readLogged(dir.string());
  EXPECT_EQ(logged.texts.count({"profile/operators", 42}), 1U);
  EXPECT_TRUE(logged.scalars.empty());
}

TEST(WriteOpStats, LogsTheSlowestOperatorsAsScalarsOnRequest) {
  const testing::TempDir dir;
  OpProfile profile = twoOperators();
  profile.operators.push_back({"aten::add", SpanKind::kOperator, 1, microseconds(1), {}});
  OpTableOptions options;
  options.maxScalars = 2;
  options.detailScalars = true;
  {
    SummaryWriter writer(dir.string());
    writeOpStats(writer, profile, 42, options);
    EXPECT_TRUE(writer.close().ok());
  }
  const LoggedValues logged = readLogged(dir.string());
  EXPECT_EQ(logged.texts.at({"profile/operators", 42}), opTable(profile, options));
  EXPECT_EQ(logged.scalars.size(), 2U);
  EXPECT_FLOAT_EQ(logged.scalars.at({"profile/self_ms/aten::mm", 42}), 1.5F);
  EXPECT_FLOAT_EQ(logged.scalars.at({"profile/self_ms/load_batch", 42}), 0.5F);
}

TEST(WriteOpStats, DistinguishesAZoneFromAnOperatorOfTheSameName) {
  const testing::TempDir dir;
  OpProfile profile = twoOperators();
  profile.operators[1].name = "aten::mm";
  OpTableOptions options;
  options.detailScalars = true;
  {
    SummaryWriter writer(dir.string());
    writeOpStats(writer, profile, 1, options);
    EXPECT_TRUE(writer.close().ok());
  }
  const LoggedValues logged = readLogged(dir.string());
  EXPECT_FLOAT_EQ(logged.scalars.at({"profile/self_ms/aten::mm", 1}), 1.5F);
  EXPECT_FLOAT_EQ(logged.scalars.at({"profile/self_ms/aten::mm (zone)", 1}), 0.5F);
}

}  // namespace
}  // namespace steptape
