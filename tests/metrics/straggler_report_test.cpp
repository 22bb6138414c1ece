// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/straggler_report.h"

#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "steptape/log/values.h"
#include "steptape/ranks/testing.h"

#include "metrics/watch/straggler_analysis.h"
#include "metrics/writer_on_ranks.h"
#include "ranks/communicator/counting_communicator.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using std::chrono::microseconds;
using test::CountingCommunicator;
using test::expectError;
using test::Points;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// A rank whose clock the test advances.
class Trainee {
 public:
  Trainee(DistributedWriter& writer, StragglerReportOptions options)
      : report_(writer, with(options)) {}

  void spend(StepPart part, int micros) {
    const StepTimes::Timer timer = report_.time(part);
    clock_->advance(microseconds(micros));
  }

  /// Makes steps of 1 ms of forward, 2 ms of backward, and `inputMicros` of input; a rank faster
  /// than `slowestMicros` waits for the others.
  void train(int steps, int inputMicros, int slowestMicros) {
    for (int i = 0; i < steps; ++i) {
      spend(StepPart::kInput, inputMicros);
      spend(StepPart::kForward, 1000);
      spend(StepPart::kBackward, 2000);
      spend(StepPart::kWait, slowestMicros - inputMicros);
      report_.endStep(step_++);
    }
  }

  StragglerReport& report() { return report_; }

 private:
  StragglerReportOptions with(StragglerReportOptions options) {
    options.clock = clock_;
    return options;
  }

  std::shared_ptr<testing::FakeClock> clock_ = std::make_shared<testing::FakeClock>();
  StragglerReport report_;
  std::int64_t step_ = 0;
};

class StragglerReportTest : public test::WriterOnRanks {
 protected:
  static StragglerReportOptions every(std::int64_t steps) {
    StragglerReportOptions options;
    options.everySteps = steps;
    return options;
  }

  std::vector<std::string> reports() const { return texts("straggler/report"); }

  std::vector<std::string> texts(const std::string& tag) const {
    std::vector<std::string> found;
    const auto valuesByTag = values();
    const auto known = valuesByTag.find(tag);
    if (known != valuesByTag.end()) {
      for (const event::Value& value : known->second) {
        TextValue text;
        decodeText(value, &text).throwIfError();
        found.push_back(text.strings.at(0));
      }
    }
    return found;
  }
};

TEST_F(StragglerReportTest, NamesTheSlowRankItsHostAndThePart) {
  std::string node;
  onRanks(7, [&](DistributedWriter& writer, Communicator& world) {
    if (world.isRoot()) {
      node = world.nodeName();
    }
    Trainee trainee(writer, every(5));
    trainee.train(10, world.rank() == 3 ? 9800 : 4000, 9800);
  });
  // 3 + 9.8 ms compared with 3 + 4 ms.
  const std::string text = "rank 3 (" + node +
                           ") needs 1.8 times as long as the median: 12.8 ms a step, 9.8 ms of it "
                           "input";
  EXPECT_THAT(reports(), ElementsAre(text, text));
}

TEST_F(StragglerReportTest, WritesTwoCurvesAndATableOfTheParts) {
  std::string node;
  onRanks(3, [&](DistributedWriter& writer, Communicator& world) {
    if (world.isRoot()) {
      node = world.nodeName();
    }
    Trainee trainee(writer, every(4));
    trainee.train(4, 1000 * (world.rank() + 1), 3000);
  });
  EXPECT_THAT(pointsOf(), ElementsAre(Pair("straggler/slowdown", Points{{3, 1.2F}}),
                                      Pair("straggler/slowest_rank", Points{{3, 2}})));
  EXPECT_THAT(texts("straggler/parts"),
              ElementsAre("| a step's | mean ms | max ms | slowest rank |\n"
                          "| --- | --- | --- | --- |\n"
                          "| input | 2.000 | 3.000 | rank 2 (" +
                          node +
                          ") |\n"
                          "| forward | 1.000 | 1.000 | rank 0 (" +
                          node +
                          ") |\n"
                          "| backward | 2.000 | 2.000 | rank 0 (" +
                          node +
                          ") |\n"
                          "| optimizer | 0.000 | 0.000 |  |\n"
                          "| wait | 1.000 | 2.000 |  |\n"
                          "| work | 5.000 | 6.000 | rank 2 (" +
                          node + ") |\n"));
}

TEST_F(StragglerReportTest, WritesTheTableAsScalarsOnRequest) {
  onRanks(3, [](DistributedWriter& writer, Communicator& world) {
    StragglerReportOptions options = every(4);
    options.detailScalars = true;
    Trainee trainee(writer, options);
    trainee.train(4, 1000 * (world.rank() + 1), 3000);
  });
  const auto at3 = [](float value) { return Points{{3, value}}; };
  EXPECT_THAT(
      pointsOf(),
      ElementsAre(
          Pair("straggler/backward/max_ms", at3(2)), Pair("straggler/backward/mean_ms", at3(2)),
          Pair("straggler/backward/slowest_rank", at3(0)), Pair("straggler/forward/max_ms", at3(1)),
          Pair("straggler/forward/mean_ms", at3(1)), Pair("straggler/forward/slowest_rank", at3(0)),
          Pair("straggler/input/max_ms", at3(3)), Pair("straggler/input/mean_ms", at3(2)),
          Pair("straggler/input/slowest_rank", at3(2)), Pair("straggler/optimizer/max_ms", at3(0)),
          Pair("straggler/optimizer/mean_ms", at3(0)),
          Pair("straggler/slowdown", at3(1.2F)),  // 6 ms / 5 ms
          Pair("straggler/slowest_rank", at3(2)), Pair("straggler/wait/max_ms", at3(2)),
          Pair("straggler/wait/mean_ms", at3(1)), Pair("straggler/work/max_ms", at3(6)),
          Pair("straggler/work/mean_ms", at3(5)), Pair("straggler/work/slowest_rank", at3(2))));
}

TEST_F(StragglerReportTest, IsSilentAboutEquallyFastRanks) {
  onRanks(3, [](DistributedWriter& writer, Communicator&) {
    Trainee trainee(writer, every(5));
    trainee.train(10, 4000, 4000);
  });
  EXPECT_THAT(reports(), IsEmpty());
  EXPECT_EQ(pointsOf().at("straggler/slowdown"), (Points{{4, 1.0F}, {9, 1.0F}}));
}

TEST_F(StragglerReportTest, UsesTheGivenThreshold) {
  onRanks(3, [](DistributedWriter& writer, Communicator& world) {
    StragglerReportOptions options = every(5);
    options.threshold = 1.05;
    Trainee trainee(writer, options);
    trainee.train(5, world.rank() == 1 ? 5000 : 4500, 5000);
  });
  EXPECT_THAT(reports(), SizeIs(1));
}

TEST_F(StragglerReportTest, ReportsEveryWindowSeparately) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    Trainee trainee(writer, every(2));
    trainee.train(2, world.rank() == 0 ? 5000 : 1000, 5000);
    trainee.train(2, world.rank() == 1 ? 9000 : 1000, 9000);
  });
  EXPECT_EQ(pointsOf().at("straggler/slowest_rank"), (Points{{1, 0.0F}, {3, 1.0F}}));
  EXPECT_EQ(pointsOf().at("straggler/slowdown"), (Points{{1, 2.0F}, {3, 3.0F}}));
}

TEST_F(StragglerReportTest, NeedsOneCollectiveAWindowAndNoneBetween) {
  testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
    const auto counter = std::make_shared<CountingCommunicator>(world);
    DistributedWriter writer(logDir(), counter, optionsWithReports());
    Trainee trainee(writer, every(50));
    const int before = counter->collectives();
    trainee.train(49, 1000, 1000);
    EXPECT_EQ(counter->collectives(), before);
    trainee.train(1, 1000, 1000);
    EXPECT_EQ(counter->collectives(), before + 1);
  });
}

TEST_F(StragglerReportTest, WritesTheSameWithoutBlocking) {
  const auto trained = [&](ReduceMode mode) {
    onRanks(3, [&](DistributedWriter& writer, Communicator& world) {
      StragglerReportOptions options = every(3);
      options.mode = mode;
      Trainee trainee(writer, options);
      trainee.train(10, world.rank() == 2 ? 9000 : 1000, 9000);
      trainee.report().finish();
    });
    return pointsOf();
  };
  const test::PointsByTag nonBlocking = trained(ReduceMode::kNonBlocking);
  EXPECT_THAT(nonBlocking.at("straggler/slowdown"), SizeIs(3));
  std::filesystem::remove_all(logDir());
  EXPECT_EQ(trained(ReduceMode::kBlocking), nonBlocking);
  EXPECT_THAT(reports(), SizeIs(3));
}

TEST_F(StragglerReportTest, WritesIntoTheJobsRun) {
  policy_ = RankPolicy::kPerRank;
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    Trainee trainee(writer, every(1));
    trainee.train(1, 1000, 1000);
  });
  EXPECT_EQ(pointsOf().count("straggler/slowdown"), 1U);
  EXPECT_EQ(pointsOf("rank_00000").count("straggler/slowdown"), 0U);
}

TEST_F(StragglerReportTest, WritesTheRootsOwnScalarsUnderTheReducedPolicy) {
  policy_ = RankPolicy::kReduced;
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    Trainee trainee(writer, every(1));
    trainee.train(1, 1000, 1000);
  });
  EXPECT_EQ(pointsOf().at("straggler/slowdown"), (Points{{0, 1.0F}}));
}

TEST_F(StragglerReportTest, ReportsRanksThatGatherAtDifferentSteps) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    StragglerReport report(writer, every(1));
    expectError(ErrorCode::kRankMismatch, "straggler report at step 6",
                [&] { report.endStep(5 + world.rank()); });
  });
}

TEST_F(StragglerReportTest, RejectsInvalidOptions) {
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    expectError(ErrorCode::kInvalidArgument,
                "StragglerReport: got everySteps = 0; expected at least 1",
                [&] { StragglerReport report(writer, every(0)); });
    StragglerReportOptions options;
    options.threshold = std::numeric_limits<double>::quiet_NaN();
    expectError(ErrorCode::kInvalidArgument,
                "StragglerReport: got threshold = NaN; expected a number",
                [&] { StragglerReport report(writer, options); });
  });
}

detail::metrics::StragglerAnalysis analyze(
    const std::vector<detail::metrics::PartSeconds>& secondsByRank) {
  return detail::metrics::analyzeStragglers({{"input", true}, {"forward", true}, {"wait", false}},
                                            secondsByRank);
}

TEST(StragglerAnalysis, ComparesTwoRanksWithTheFasterOne) {
  const detail::metrics::StragglerAnalysis analysis = analyze({{0.001, 0, 0.002}, {0.003, 0, 0}});
  EXPECT_EQ(analysis.work.slowestRank, 1);
  EXPECT_DOUBLE_EQ(analysis.slowdown, 3);
}

TEST(StragglerAnalysis, NamesThePartWithTheLargestDelayNotTheLongestPart) {
  const detail::metrics::PartSeconds normal{0.001, 0.200, 0.050};
  const detail::metrics::PartSeconds slow{0.051, 0.210, 0};
  const detail::metrics::StragglerAnalysis analysis = analyze({normal, slow, normal});
  EXPECT_EQ(analysis.work.slowestRank, 1);
  EXPECT_EQ(analysis.parts[analysis.slowestPart].part.name, std::string("input"));
}

TEST(StragglerAnalysis, DoesNotCountWaitingAsWork) {
  const detail::metrics::PartSeconds waiting{0, 0.001, 5};
  const detail::metrics::PartSeconds working{0, 0.002, 0};
  const detail::metrics::StragglerAnalysis analysis = analyze({waiting, working, waiting});
  EXPECT_EQ(analysis.work.slowestRank, 1);
  EXPECT_DOUBLE_EQ(analysis.slowdown, 2);
  EXPECT_EQ(analysis.parts[analysis.slowestPart].part.name, std::string("forward"));
}

TEST(StragglerAnalysis, FindsNoSlowRankIfNoRankWorks) {
  EXPECT_EQ(analyze({{0, 0, 0}, {0, 0, 0}}).slowdown, 1);
}

TEST(StragglerAnalysis, FindsASingleRankAsFastAsTheMedian) {
  EXPECT_EQ(analyze({{0.1, 0, 0}}).slowdown, 1);
}

}  // namespace
}  // namespace steptape
