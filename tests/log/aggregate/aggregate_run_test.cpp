// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/aggregate.h"
#include "steptape/log/run_reader.h"

#include "log/reader/log_dir_fixture.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AggregateRuns : public LogDirFixture {
 protected:
  void addRun(const std::vector<event::Event>& events) {
    const std::string name = "seeds/" + std::to_string(readers_.size());
    writeEvents(name + "/" + kFile, events);
    readers_.emplace_back(listRuns(path(name)).front());
    readers_.back().update();
  }
  void addTwoRuns() {
    addRun({simpleScalar("loss/train", 1, 0), simpleScalar("loss/train", 0.5F, 1)});
    addRun({simpleScalar("loss/train", 3, 0), simpleScalar("loss/train", 1.5F, 1)});
  }

  AggregateResult aggregate() { return aggregateRuns(readers_, path("mean"), options_); }

  std::vector<std::string> writtenTags() const {
    std::vector<std::string> tags;
    for (const auto& [tag, points] : readScalars(path("mean"))) {
      tags.push_back(tag);
    }
    return tags;
  }
  std::vector<float> written(const std::string& tag) const {
    const ScalarsByTag scalars = readScalars(path("mean"));
    std::vector<float> values;
    for (const ScalarPoint& point : scalars.at(tag)) {
      values.push_back(point.value);
    }
    return values;
  }
  /// Returns the only value under `tag` in the written run.
  event::Value writtenValue(const std::string& tag) const {
    RunReader run(listRuns(path("mean")).front());
    run.update();
    event::Value value;
    const Status status = run.value(run.tags().at(tag).values.at(0), &value);
    EXPECT_TRUE(status.ok()) << status.message();
    return value;
  }
  CustomScalarsLayout writtenLayout() const {
    CustomScalarsLayout layout;
    const auto tensor = std::get<event::Tensor>(writtenValue("custom_scalars__config__").data);
    const Status status = decodeLayout(tensor.strings.at(0), &layout);
    EXPECT_TRUE(status.ok()) << status.message();
    return layout;
  }

  AggregateOptions options_;
  std::vector<RunReader> readers_;
};

TEST_F(AggregateRuns, WritesTheMeanUnderTheTagAndStatisticsBelowIt) {
  addTwoRuns();
  aggregate();
  EXPECT_THAT(writtenTags(),
              ElementsAre("loss/train", "loss/train/max", "loss/train/min", "loss/train/p25",
                          "loss/train/p50", "loss/train/p75", "loss/train/std"));
  EXPECT_THAT(written("loss/train"), ElementsAre(2, 1));
  EXPECT_THAT(written("loss/train/min"), ElementsAre(1, 0.5F));
  EXPECT_THAT(written("loss/train/max"), ElementsAre(3, 1.5F));
  EXPECT_THAT(written("loss/train/p25"), ElementsAre(1.5F, 0.75F));
  EXPECT_THAT(written("loss/train/std"),
              ElementsAre(::testing::FloatEq(1.41421356F), ::testing::FloatEq(0.70710678F)));
}

TEST_F(AggregateRuns, KeepsStepsAndMeanWallTimes) {
  addTwoRuns();
  aggregate();
  const std::vector<ScalarPoint> points = readScalars(path("mean")).at("loss/train");
  ASSERT_THAT(points, SizeIs(2));
  EXPECT_EQ(points[1].step, 1);
  EXPECT_DOUBLE_EQ(points[0].wallTime, 1000);
  EXPECT_DOUBLE_EQ(points[1].wallTime, 1001);
}

TEST_F(AggregateRuns, ReturnsTheLastPointOfEachTag) {
  addTwoRuns();
  const AggregateResult result = aggregate();
  ASSERT_THAT(result.series, SizeIs(1));
  EXPECT_EQ(result.series[0].tag, "loss/train");
  EXPECT_EQ(result.series[0].steps, 2U);
  ASSERT_THAT(result.series[0].points, SizeIs(1));
  EXPECT_DOUBLE_EQ(result.series[0].points[0].mean, 1);
}

TEST_F(AggregateRuns, LeavesOutTagsOfOneRun) {
  addRun({simpleScalar("a", 1, 0), simpleScalar("b", 1, 0)});
  addRun({simpleScalar("a", 1, 0)});
  EXPECT_THAT(aggregate().tagsLeftOut, ElementsAre("b"));
  EXPECT_EQ(readScalars(path("mean")).count("b"), 0U);
}

TEST_F(AggregateRuns, TakesOnlyTagsThatAreWanted) {
  addRun({simpleScalar("a", 1, 0), simpleScalar("b", 1, 0)});
  addRun({simpleScalar("a", 1, 0), simpleScalar("b", 1, 0)});
  options_.wantsTag = [](std::string_view tag) { return tag == "b"; };
  const AggregateResult result = aggregate();
  ASSERT_THAT(result.series, SizeIs(1));
  EXPECT_EQ(result.series[0].tag, "b");
  EXPECT_THAT(result.tagsLeftOut, IsEmpty());
}

TEST_F(AggregateRuns, ChartsABandOfEachTag) {
  addTwoRuns();
  aggregate();
  const CustomScalarsLayout layout = writtenLayout();
  ASSERT_THAT(layout.categories, SizeIs(1));
  EXPECT_EQ(layout.categories[0].title, "loss");
  ASSERT_THAT(layout.categories[0].charts, SizeIs(1));
  EXPECT_THAT(layout.categories[0].charts[0].margins,
              ElementsAre(ElementsAre("loss/train", "loss/train/min", "loss/train/max")));
}

TEST_F(AggregateRuns, ChartsABandOfDeviations) {
  addTwoRuns();
  options_.band = AggregateBand::kDeviation;
  aggregate();
  EXPECT_THAT(writtenLayout().categories.at(0).charts.at(0).margins,
              ElementsAre(ElementsAre("loss/train", "loss/train/lower", "loss/train/upper")));
  EXPECT_THAT(written("loss/train/upper"),
              ElementsAre(::testing::FloatEq(3.41421356F), ::testing::FloatEq(1.70710678F)));
  EXPECT_THAT(written("loss/train/lower"),
              ElementsAre(::testing::FloatEq(0.58578644F), ::testing::FloatEq(0.29289322F)));
}

TEST_F(AggregateRuns, ChartsABandOfTheOuterPercentiles) {
  addTwoRuns();
  options_.percentiles = {50, 95, 5};
  options_.band = AggregateBand::kPercentiles;
  aggregate();
  EXPECT_THAT(writtenLayout().categories.at(0).charts.at(0).margins,
              ElementsAre(ElementsAre("loss/train", "loss/train/p5", "loss/train/p95")));
}

TEST_F(AggregateRuns, ChartsNothingWithoutABand) {
  addTwoRuns();
  options_.band = AggregateBand::kNone;
  aggregate();
  EXPECT_THAT(written("loss/train"), ElementsAre(2, 1));
  RunReader run(listRuns(path("mean")).front());
  run.update();
  EXPECT_EQ(run.tags().count("custom_scalars__config__"), 0U);
}

TEST_F(AggregateRuns, RefusesRunsWithoutACommonTag) {
  addRun({simpleScalar("a", 1, 0)});
  addRun({simpleScalar("b", 1, 0)});
  test::expectError(ErrorCode::kInvalidArgument, "got no scalar tag that 2 runs have",
                    [this] { aggregate(); });
  EXPECT_FALSE(std::filesystem::exists(path("mean")));
}

TEST_F(AggregateRuns, RefusesABandOfOnePercentile) {
  addTwoRuns();
  options_.percentiles = {50};
  options_.band = AggregateBand::kPercentiles;
  test::expectError(ErrorCode::kInvalidArgument, "got 1 percentile; expected at least 2",
                    [this] { aggregate(); });
}

TEST_F(AggregateRuns, ListsTheRuns) {
  addTwoRuns();
  aggregate();
  EXPECT_THAT(std::get<event::Tensor>(writtenValue("aggregated runs").data).strings,
              ElementsAre(path("seeds/0"), path("seeds/1")));
}

TEST_F(AggregateRuns, WritesNoDeviationOfOneRun) {
  options_.minRuns = 1;
  addRun({simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 1)});
  addRun({simpleScalar("loss", 3, 0)});
  aggregate();
  EXPECT_THAT(written("loss"), ElementsAre(2, 1));
  EXPECT_THAT(written("loss/std"), SizeIs(1));
}

TEST_F(AggregateRuns, RefusesFewerRunsThanItNeeds) {
  addRun({simpleScalar("loss", 1, 0)});
  test::expectError(ErrorCode::kInvalidArgument, "got 1 run; expected at least 2",
                    [this] { aggregate(); });
  addRun({simpleScalar("loss", 1, 0)});
  options_.minRuns = 3;
  test::expectError(ErrorCode::kInvalidArgument, "got 2 runs; expected at least 3",
                    [this] { aggregate(); });
}

TEST_F(AggregateRuns, TakesTagsOfOneRunIfOneIsEnough) {
  options_.minRuns = 1;
  addRun({simpleScalar("a", 1, 0), simpleScalar("b", 5, 0)});
  addRun({simpleScalar("a", 3, 0)});
  EXPECT_THAT(aggregate().tagsLeftOut, IsEmpty());
  EXPECT_THAT(written("a"), ElementsAre(2));
  EXPECT_THAT(written("b"), ElementsAre(5));
  EXPECT_THAT(written("b/max"), ElementsAre(5));
  EXPECT_EQ(readScalars(path("mean")).count("b/std"), 0U);
}

TEST_F(AggregateRuns, TakesASingleRunIfOneIsEnough) {
  options_.minRuns = 1;
  addRun({simpleScalar("loss", 1, 0)});
  aggregate();
  EXPECT_THAT(written("loss"), ElementsAre(1));
}

TEST_F(AggregateRuns, WritesAPercentileThatIsGivenTwiceOnce) {
  addTwoRuns();
  options_.percentiles = {50, 50};
  aggregate();
  EXPECT_THAT(written("loss/train/p50"), ElementsAre(2, 1));
}

TEST_F(AggregateRuns, LeavesOutOnlyTagsThatAreNamedLikeAStatisticOfAnother) {
  for (int run = 0; run < 2; ++run) {
    addRun({simpleScalar("reward", 1, 0), simpleScalar("reward/max", 1, 0),
            simpleScalar("reward/std", 1, 0), simpleScalar("loss", 1, 0)});
  }
  const AggregateResult result = aggregate();
  ASSERT_THAT(result.series, SizeIs(1));
  EXPECT_EQ(result.series[0].tag, "loss");
  ASSERT_THAT(result.conflicts, SizeIs(2));
  EXPECT_EQ(result.conflicts[0].name, "reward/max");
  EXPECT_EQ(result.conflicts[0].tag, "reward");
  EXPECT_EQ(result.conflicts[0].otherTag, "reward/max");
  EXPECT_EQ(result.conflicts[1].otherTag, "reward/std");
  EXPECT_EQ(readScalars(path("mean")).count("reward/max"), 0U);
  EXPECT_THAT(written("loss/max"), ElementsAre(1));
}

TEST_F(AggregateRuns, RefusesTagsThatAreAllNamedLikeAStatistic) {
  addRun({simpleScalar("loss", 1, 0), simpleScalar("loss/min", 1, 0)});
  addRun({simpleScalar("loss", 1, 0), simpleScalar("loss/min", 1, 0)});
  test::expectError(ErrorCode::kInvalidArgument,
                    "the name 'loss/min' is needed for 'loss' and for 'loss/min', and no other tag "
                    "is left; select one of them, in the tool by --tag",
                    [this] { aggregate(); });
  EXPECT_FALSE(std::filesystem::exists(path("mean")));
}

TEST_F(AggregateRuns, RefusesADirectoryThatHoldsARun) {
  addTwoRuns();
  aggregate();
  test::expectError(ErrorCode::kFailedPrecondition, "holds 1 event file", [this] { aggregate(); });
  EXPECT_THAT(written("loss/train"), SizeIs(2)) << "the run that was there has changed";
}

}  // namespace
}  // namespace steptape
