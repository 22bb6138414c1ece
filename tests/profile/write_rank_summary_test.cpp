// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/profile/trace_summary.h"
#include "steptape/ranks/testing.h"

#include "profile/logged_values.h"
#include "profile/recorder/rank_profile_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMillisecond = 1'000'000;

OpStats opOf(const std::string& name, int calls, int selfMillis) {
  OpStats op;
  op.name = name;
  op.calls = static_cast<std::uint64_t>(calls);
  op.self = milliseconds(selfMillis);
  op.total = op.self;
  return op;
}

/// Returns a step in which a rank spends `forward` ms in forward and waits for the rest of 20 ms,
/// except 2 ms of transfer.
StepSummary stepOf(std::int64_t number, std::int64_t forward) {
  StepSummary step;
  step.number = number;
  step.forward = forward * kMillisecond;
  step.transfer = 2 * kMillisecond;
  step.total = 20 * kMillisecond;
  step.wait = step.total - step.transfer - step.forward;
  return step;
}

RankProfile rankOf(const std::string& node, int multiplyMillis, std::int64_t forward) {
  RankProfile rank;
  rank.nodeName = node;
  rank.profile.operators = {opOf("aten::mm", 4, multiplyMillis), opOf("aten::relu", 2, 1)};
  rank.profile.steps = 2;
  rank.steps = {stepOf(10, forward), stepOf(11, forward + 2)};
  return rank;
}

class WriteRankSummary : public ::testing::Test {
 protected:
  LoggedValues logged(const std::vector<RankProfile>& ranks, const OpTableOptions& options = {}) {
    {
      SummaryWriter writer(directory_.string());
      writeRankSummary(writer, ranks, 12, options);
    }
    return readLogged(directory_.string());
  }

  static OpTableOptions withScalars() {
    OpTableOptions options;
    options.detailScalars = true;
    return options;
  }

  /// Rank 1 takes 16 ms for work that takes the others 6 ms.
  static std::vector<RankProfile> jobWithASlowRank() {
    return {rankOf("node7", 10, 6), rankOf("node8", 40, 16), rankOf("node7", 10, 6)};
  }

  testing::TempDir directory_;
};

TEST_F(WriteRankSummary, ReportsTheMeanAndTheSlowestRankOfEachOperator) {
  const std::string table = logged(jobWithASlowRank()).texts.at({"profile/operators_by_rank", 12});
  EXPECT_THAT(table, HasSubstr("| # | operator | kind | calls | mean self ms | self % | "
                               "max self ms | of |\n"));
  EXPECT_THAT(table, HasSubstr("| 1 | `aten::mm` | operator | 12 | 20.000 | 95.2 | 40.000 | "
                               "rank 1 (node8) |\n"));
  EXPECT_THAT(table, HasSubstr("| 2 | `aten::relu` | operator | 6 | 1.000 | 4.8 | 1.000 |  |\n"));
  EXPECT_THAT(table, HasSubstr("Mean over 3 ranks"));
}

TEST_F(WriteRankSummary, LogsATableOfTheMeansOverTheStepsAndNoScalar) {
  const LoggedValues values = logged(jobWithASlowRank());
  EXPECT_TRUE(values.scalars.empty());
  const std::string table = values.texts.at({"profile/straggler/parts", 12});
  EXPECT_THAT(table, HasSubstr("| forward | 10.333 | 17.000 | rank 1 (node8) |\n"));
  EXPECT_THAT(table, HasSubstr("| wait | 7.667 | 11.000 |  |\n"));
  EXPECT_THAT(table, HasSubstr("| work | 10.333 | 17.000 | rank 1 (node8) |\n"));
}

TEST_F(WriteRankSummary, NamesTheSlowestRankOfEachStep) {
  const LoggedValues values = logged(jobWithASlowRank(), withScalars());
  const auto at = [&](const std::string& tag, std::int64_t step) {
    return values.scalars.at({"profile/straggler/" + tag, step});
  };
  EXPECT_FLOAT_EQ(at("forward/mean_ms", 10), 28.0F / 3);
  EXPECT_FLOAT_EQ(at("forward/max_ms", 10), 16);
  EXPECT_FLOAT_EQ(at("forward/max_ms", 11), 18);
  EXPECT_FLOAT_EQ(at("forward/slowest_rank", 10), 1);
  EXPECT_FLOAT_EQ(at("wait/max_ms", 10), 12);
  EXPECT_FLOAT_EQ(at("transfer/mean_ms", 10), 2);
  EXPECT_FLOAT_EQ(at("total/mean_ms", 11), 20);
  EXPECT_FLOAT_EQ(at("work/max_ms", 10), 16);
  EXPECT_FLOAT_EQ(at("work/slowest_rank", 11), 1);
  EXPECT_FLOAT_EQ(at("slowest_rank", 10), 1);
  EXPECT_FLOAT_EQ(at("slowdown", 10), 16.0F / 6);
}

TEST_F(WriteRankSummary, NamesNoSlowestRankForWaitingOrUnusedParts) {
  const LoggedValues values = logged(jobWithASlowRank(), withScalars());
  EXPECT_EQ(values.scalars.count({"profile/straggler/wait/slowest_rank", 10}), 0U);
  EXPECT_EQ(values.scalars.count({"profile/straggler/transfer/slowest_rank", 10}), 0U);
  EXPECT_EQ(values.scalars.count({"profile/straggler/input/slowest_rank", 10}), 0U);
  EXPECT_EQ(values.scalars.count({"profile/straggler/input/mean_ms", 10}), 1U);
}

TEST_F(WriteRankSummary, DescribesAStragglerOverTheWholeWindow) {
  EXPECT_THAT(logged(jobWithASlowRank()).texts.at({"profile/straggler/report", 12}),
              HasSubstr("rank 1 (node8) needs 2.4 times as long as the median: 17.0 ms a step, "
                        "17.0 ms of it forward"));
}

TEST_F(WriteRankSummary, NamesNoRankIfAllAreEquallyFast) {
  const LoggedValues values =
      logged({rankOf("node7", 10, 6), rankOf("node8", 10, 6)}, withScalars());
  EXPECT_EQ(values.texts.count({"profile/straggler/report", 12}), 0U);
  EXPECT_FLOAT_EQ(values.scalars.at({"profile/straggler/slowdown", 10}), 1);
}

TEST_F(WriteRankSummary, ComparesStepsThatEveryRankHas) {
  std::vector<RankProfile> ranks = jobWithASlowRank();
  ranks[2].steps.erase(ranks[2].steps.begin());
  ranks[2].profile.steps = 1;
  const LoggedValues values = logged(ranks, withScalars());
  EXPECT_EQ(values.scalars.count({"profile/straggler/slowdown", 10}), 0U);
  EXPECT_EQ(values.scalars.count({"profile/straggler/slowdown", 11}), 1U);
  EXPECT_THAT(values.texts.at({"profile/operators_by_rank", 12}),
              HasSubstr("They recorded 1 to 2 steps."));
}

TEST_F(WriteRankSummary, HasOnlyTheTableIfNoTraceWasMade) {
  std::vector<RankProfile> ranks = jobWithASlowRank();
  for (RankProfile& rank : ranks) {
    rank.steps.clear();
  }
  const LoggedValues values = logged(ranks);
  EXPECT_EQ(values.texts.size(), 1U);
  EXPECT_TRUE(values.scalars.empty());
}

TEST_F(WriteRankSummary, StatesWhatTheTableOmits) {
  OpTableOptions options;
  options.maxRows = 1;
  std::vector<RankProfile> ranks = jobWithASlowRank();
  ranks[2].profile.dropped = 5;
  EXPECT_THAT(logged(ranks, options).texts.at({"profile/operators_by_rank", 12}),
              AllOf(Not(HasSubstr("aten::relu")), HasSubstr("The 1 operators"),
                    HasSubstr("**Rank 2 dropped 5 spans.**")));
}

TEST_F(WriteRankSummary, IsTheSameForSerializedProfiles) {
  std::vector<RankProfile> ranks = jobWithASlowRank();
  ranks[1].steps[0].other = -5;  // overlapping spans may make the rest negative
  ranks[1].profile.dropped = 3;
  ranks[1].profile.operators[0].kind = SpanKind::kBackward;
  for (const RankProfile& rank : ranks) {
    const RankProfile back =
        detail::profile::decodeRankProfile(detail::profile::encodeRankProfile(rank));
    EXPECT_EQ(back.nodeName, rank.nodeName);
    EXPECT_EQ(back.profile.steps, rank.profile.steps);
    EXPECT_EQ(back.profile.dropped, rank.profile.dropped);
    ASSERT_EQ(back.profile.operators.size(), rank.profile.operators.size());
    for (std::size_t i = 0; i < rank.profile.operators.size(); ++i) {
      const OpStats& op = rank.profile.operators[i];
      EXPECT_EQ(back.profile.operators[i].name, op.name);
      EXPECT_EQ(back.profile.operators[i].kind, op.kind);
      EXPECT_EQ(back.profile.operators[i].calls, op.calls);
      EXPECT_EQ(back.profile.operators[i].self, op.self);
      EXPECT_EQ(back.profile.operators[i].total, op.total);
    }
    ASSERT_EQ(back.steps.size(), rank.steps.size());
    for (std::size_t i = 0; i < rank.steps.size(); ++i) {
      EXPECT_EQ(back.steps[i].number, rank.steps[i].number);
      EXPECT_EQ(back.steps[i].total, rank.steps[i].total);
      for (const StepSummaryPart& part : kStepSummaryParts) {
        EXPECT_EQ(back.steps[i].*part.nanos, rank.steps[i].*part.nanos) << part.name;
      }
    }
  }
}

TEST(RankProfileCodec, RefusesBytesThatAreCut) {
  const std::string bytes = detail::profile::encodeRankProfile(rankOf("node7", 10, 6));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(detail::profile::decodeRankProfile(bytes.substr(0, size)), Error) << size;
  }
}

}  // namespace
}  // namespace steptape
