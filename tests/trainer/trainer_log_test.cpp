// SPDX-License-Identifier: Apache-2.0
// What a Trainer writes.
#include <string>
#include <vector>

#include "steptape/reader/values.h"

#include "distributed/read_back.h"
#include "trainer/training_fixture.h"

namespace steptape::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using testing::runRanksShared;

class TrainingLog : public Training {
 protected:
  /// One epoch of 6 steps on two ranks, whose losses are 1 and 2; `change` makes more of it.
  void train(const std::function<void(Run&)>& change) {
    runRanksShared(2, [&](const World& world) {
      Run run;
      run.writer = DistributedWriterOptions();
      run.options.loss = [&](const at::Tensor& output, const at::Tensor& /*targets*/) {
        return output.sum() * 0 + (1 + world->rank());
      };
      change(run);
      fit(world, run);
    });
  }

  PointsByTag pointsOf(const std::string& name = ".") const { return readPoints(logDir(), name); }

  static Points sixTimes(float value) {
    Points points;
    for (std::int64_t step = 1; step <= 6; ++step) {
      points.emplace_back(step, value);
    }
    return points;
  }
};

TEST_F(TrainingLog, HasTheMeanLossOfAllRanksAndItsBand) {
  train([](Run&) {});
  auto points = pointsOf();
  // 11 images on each rank: the means need no weights here, see StepExchange.
  EXPECT_EQ(points["loss/train"], sixTimes(1.5F));
  EXPECT_EQ(points["loss/train/min"], sixTimes(1));
  EXPECT_EQ(points["loss/train/max"], sixTimes(2));
  EXPECT_EQ(points["learning_rate"], sixTimes(0.1F));
  EXPECT_THAT(points, Not(Contains(Key("gradient_norm"))));
}

TEST_F(TrainingLog, HasTheRootsLossAloneIfItIsTold) {
  train([](Run& run) { run.options.reduceTrainLoss = false; });
  auto points = pointsOf();
  EXPECT_EQ(points["loss/train"], sixTimes(1));
  EXPECT_THAT(points, Not(Contains(Key("loss/train/min"))));
}

TEST_F(TrainingLog, HasEachRanksOwnLossInItsRunUnderPerRank) {
  train([](Run& run) { run.writer.rankPolicy = RankPolicy::kPerRank; });
  EXPECT_EQ(pointsOf()["loss/train"], sixTimes(1.5F));
  EXPECT_EQ(pointsOf("rank_00000")["loss/train"], sixTimes(1));
  EXPECT_EQ(pointsOf("rank_00001")["loss/train"], sixTimes(2));
}

TEST_F(TrainingLog, HasTheGradientsNormWhereItIsLimited) {
  train([](Run& run) { run.options.gradientSync.maxNorm = 1; });
  EXPECT_EQ(pointsOf()["gradient_norm"], sixTimes(0));
}

TEST_F(TrainingLog, HasEveryMetricOfTheEvaluations) {
  train([](Run& run) {
    run.options.metrics = {accuracyMetric()};
    run.options.evaluateEverySteps = 4;
  });
  auto points = pointsOf();
  ASSERT_EQ(points["accuracy/test"].size(), 2U);
  EXPECT_EQ(points["accuracy/test"][0].first, 4);
  EXPECT_EQ(points["accuracy/test"][1].first, 6);
  EXPECT_EQ(points["loss/test"].size(), 2U);
}

TEST_F(TrainingLog, HasTheGradientsOfTheLastStepAlsoWhereRanksShareThem) {
  train([](Run& run) {
    run.options.histograms = true;
    run.options.loss = [](const at::Tensor& output, const at::Tensor& /*targets*/) {
      return output.sum();
    };
  });
  const std::map<std::string, std::vector<event::Value>> values = readValues(logDir());
  EXPECT_THAT(values, Contains(Key("parameters/fc.weight")));
  ASSERT_THAT(values, Contains(Key("gradients/fc.bias")));
  HistogramValue histogram;
  decodeHistogram(values.at("gradients/fc.bias").at(0), &histogram).throwIfError();
  // Of log-softmax for two classes: one is the other's negative.
  EXPECT_GT(histogram.buckets.back().right, 0);
  EXPECT_NEAR(histogram.buckets.front().left, -histogram.buckets.back().right, 1e-6);
}

TEST_F(TrainingLog, SaysWhatThePartsOfTheStepsTook) {
  train([](Run& run) { run.options.stragglerSteps = 2; });
  auto points = pointsOf();
  for (const char* part : {"input", "forward", "backward", "optimizer", "wait", "work"}) {
    const Points& means = points["straggler/" + std::string(part) + "/mean_ms"];
    EXPECT_FALSE(means.empty()) << part;
  }
  EXPECT_FALSE(points["straggler/slowest_rank"].empty());
}

TEST_F(TrainingLog, HasTheConfigurationWithTheRowsOfTheCaller) {
  train([](Run& run) {
    run.options.configuration = {{"temper", "even"}};
    run.options.maxSteps = 3;
  });
  TextValue text;
  decodeText(readValues(logDir()).at("configuration").at(0), &text).throwIfError();
  const std::string table = text.strings.at(0);
  EXPECT_THAT(table, HasSubstr("| epochs | 1, at most 3 steps |"));
  EXPECT_THAT(table, HasSubstr("| temper | even |"));
  EXPECT_THAT(table, HasSubstr("| gradients | "));
}

}  // namespace
}  // namespace steptape::test
