// SPDX-License-Identifier: Apache-2.0
// What a Trainer writes.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/values.h"

#include "metrics/read_back.h"
#include "train/loop/training_fixture.h"

namespace steptape::test {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using testing::runRanksShared;

class TrainingLog : public Training {
 protected:
  /// Trains one epoch of 6 steps on two ranks, whose losses are 1 and 2; `change` adds to the run.
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
  // 11 images on each rank: the means need no weights here; see StepExchange.
  EXPECT_EQ(points["loss/train"], sixTimes(1.5F));
  EXPECT_EQ(points["loss/train/min"], sixTimes(1));
  EXPECT_EQ(points["loss/train/max"], sixTimes(2));
  EXPECT_EQ(points["optimizer/learning_rate"], sixTimes(0.1F));
  EXPECT_THAT(points, Not(Contains(Key("optimizer/gradient_norm"))));
}

TEST_F(TrainingLog, HasOnlyTheRootsLossOnRequest) {
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

TEST_F(TrainingLog, HasTheGradientsNormIfItIsLimited) {
  train([](Run& run) { run.options.gradientSync.maxNorm = 1; });
  EXPECT_EQ(pointsOf()["optimizer/gradient_norm"], sixTimes(0));
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

TEST_F(TrainingLog, HasTheGradientsOfTheLastStepAlsoIfRanksShareThem) {
  train([](Run& run) {
    run.options.histograms = true;
    run.options.loss = [](const at::Tensor& output, const at::Tensor& /*targets*/) {
      return output.sum();
    };
  });
  const std::map<std::string, std::vector<event::Value>> values = readValues(logDir());
  EXPECT_THAT(values, Contains(Key("parameters/fc.weight")));
  ASSERT_THAT(values, Contains(Key("parameter_gradients/fc.bias")));
  HistogramValue histogram;
  decodeHistogram(values.at("parameter_gradients/fc.bias").at(0), &histogram).throwIfError();
  // Log-softmax of two classes: one is the negative of the other.
  EXPECT_GT(histogram.buckets.back().right, 0);
  EXPECT_NEAR(histogram.buckets.front().left, -histogram.buckets.back().right, 1e-6);
}

TEST_F(TrainingLog, HasTheTimesOfTheStepsParts) {
  train([](Run& run) {
    run.options.stragglerSteps = 2;
    run.options.detailScalars = true;
  });
  auto points = pointsOf();
  for (const char* part : {"input", "forward", "backward", "optimizer", "wait", "work"}) {
    const Points& means = points["straggler/" + std::string(part) + "/mean_ms"];
    EXPECT_FALSE(means.empty()) << part;
  }
  EXPECT_FALSE(points["straggler/slowest_rank"].empty());
  EXPECT_EQ(points["epoch_seconds"].size(), 1U);
}

TEST_F(TrainingLog, HasTheMachineIfAskedFor) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  PointsByTag points;
  while (points.count("machine/resident_bytes/max") == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::filesystem::remove_all(logDir());
    train([](Run& run) {
      run.options.epochs = 20;
      run.options.machineMetrics.emplace().period = std::chrono::milliseconds(1);
    });
    points = pointsOf();
  }
  EXPECT_GT(points["machine/resident_bytes"].back().second, 1e7);
}

TEST_F(TrainingLog, SaysHowLongEachCheckpointTook) {
  for (const bool isAsync : {true, false}) {
    SCOPED_TRACE(isAsync);
    std::filesystem::remove_all(logDir());
    train([&](Run& run) {
      run.options.checkpointDirectory = logDir() + "/checkpoints";
      run.options.checkpointEverySteps = 2;
      run.options.asyncCheckpoints = isAsync;
      run.options.detailScalars = true;
    });
    auto points = pointsOf();
    for (const char* tag : {"checkpoint/stall_seconds", "checkpoint/write_seconds"}) {
      ASSERT_EQ(points[tag].size(), 3U) << tag;
      EXPECT_EQ(points[tag].back().first, 6) << tag;
      EXPECT_GT(points[tag].back().second, 0) << tag;
    }
  }
}

TEST_F(TrainingLog, CountsTheWaitForASlowLoaderAsInput) {
  constexpr std::chrono::milliseconds kPerSample{3};
  const auto source = std::make_shared<FunctionSource>(
      kImages, std::vector<std::int64_t>{4}, [&](std::int64_t index, SampleRandom&) {
        const auto end = std::chrono::steady_clock::now() + kPerSample;
        while (std::chrono::steady_clock::now() < end) {
        }
        return std::make_pair(torch::zeros({4}), index % 2);
      });
  const World world = oneRank();
  PrefetchLoaderOptions unread;
  unread.workers = 0;
  PrefetchLoader loader(source, sampler(*world, true, true), 2, unread);
  const auto net = std::make_shared<SmallNet>();
  const auto optimizer = momentumSgd(net->parameters());
  DistributedWriter writer(logDir(), world);
  TrainerOptions options;
  options.stragglerSteps = 11;
  options.detailScalars = true;
  options.progress = ProgressStyle::kNone;
  ImageLoader test(images(), sampler(*world, false, false), 4);
  Trainer(net, *optimizer, world, writer, options).fit(loader, test);
  writer.close().throwIfError();
  const Points input = pointsOf()["straggler/input/mean_ms"];
  ASSERT_EQ(input.size(), 1U);
  EXPECT_GE(input[0].second, 2 * kPerSample.count());
}

TEST_F(TrainingLog, HasCurvesOnlyUnlessDetailIsAskedFor) {
  train([](Run& run) {
    run.options.stragglerSteps = 2;
    run.options.metrics = {accuracyMetric()};
  });
  std::vector<std::string> tags;
  for (const auto& [tag, points] : pointsOf()) {
    tags.push_back(tag);
  }
  EXPECT_THAT(tags,
              ElementsAre("accuracy/test", "loss/test", "loss/train", "loss/train/max",
                          "loss/train/min", "optimizer/learning_rate", "samples_per_second",
                          "straggler/slowdown", "straggler/slowest_rank", "teraflops_per_second"));
}

TEST_F(TrainingLog, HasTheThroughputOfTheStepsSinceTheLastPoint) {
  train([](Run& run) {
    run.options.stragglerSteps = 4;
    run.options.epochs = 2;
  });
  std::vector<std::int64_t> steps;
  const auto points = pointsOf();
  for (const auto& [step, samplesPerSecond] : points.at("samples_per_second")) {
    EXPECT_GT(samplesPerSecond, 0);
    steps.push_back(step);
  }
  EXPECT_THAT(steps, ElementsAre(4, 6, 8, 12)) << "every 4 steps, and at the end of an epoch";
}

TEST_F(TrainingLog, HasTheOperationsOfTheSamplesPerSecond) {
  for (const std::int64_t accumulated : {1, 2}) {
    runRanksShared(2, [&](const World& world) {
      Run run;
      run.writer = DistributedWriterOptions();
      run.options.gradientSync.accumulationSteps = accumulated;
      run.options.maxSteps = 2;
      // 4 to 2 features, a multiplication and an addition, forward and for the weight's gradient.
      EXPECT_EQ(fit(world, run).flopsPerSample, 4 * 2 * 2 * 2);
    });
    auto points = pointsOf();
    EXPECT_FLOAT_EQ(points["teraflops_per_second"].back().second,
                    points["samples_per_second"].back().second * 32e-12F);
  }
}

TEST_F(TrainingLog, HasTokensPerSecondWhereSamplesHaveThem) {
  train([](Run& run) { run.options.tokensPerSample = 128; });
  auto points = pointsOf();
  ASSERT_EQ(points["tokens_per_second"].size(), 1U);
  EXPECT_THAT(points, Not(Contains(Key("samples_per_second"))));
  // The batches of this loss are multiplied with 0, but are computed: 32 operations a sample.
  EXPECT_FLOAT_EQ(points["teraflops_per_second"][0].second,
                  points["tokens_per_second"][0].second / 128 * 32e-12F);
}

TEST_F(TrainingLog, HasNoNormsOfParametersUnlessTheyAreAskedFor) {
  train([](Run&) {});
  for (const auto& [tag, points] : pointsOf()) {
    EXPECT_THAT(tag, Not(HasSubstr("norm")));
  }
}

class LoggedNorms : public TrainingLog, public ::testing::WithParamInterface<double> {};
INSTANTIATE_TEST_SUITE_P(MaxNorms, LoggedNorms, ::testing::Values(0, 0.01));

TEST_P(LoggedNorms, AreThoseOfEachParameterAndOfItsGradientBeforeClipping) {
  constexpr double kGradientOfBias = 5.5;
  const double maxNorm = GetParam();
  torch::Tensor bias;
  train([&](Run& run) {
    run.options.parameterNormSteps = 3;
    run.options.gradientSync.maxNorm = maxNorm;
    run.options.maxSteps = 3;
    run.net = std::make_shared<SmallNet>(0);
    run.options.loss = [net = run.net](const at::Tensor& output, const at::Tensor& /*targets*/) {
      return output.sum() * 0 + kGradientOfBias * net->fc->bias.sum();
    };
    run.prepare = [&bias, net = run.net](Trainer& trainer) {
      trainer.on(TrainerEvent::kAfterFit, [&bias, net](TrainingContext& context) {
        if (context.world.isRoot()) {
          bias = net->fc->bias.detach().clone();
        }
      });
    };
  });
  auto points = pointsOf();
  const auto norm = bias.norm().item<float>();
  const auto gradient = static_cast<float>(kGradientOfBias * std::sqrt(2.0));
  ASSERT_EQ(points["parameter_norms/fc.bias"].size(), 1U) << "at step 3 only";
  EXPECT_EQ(points["parameter_norms/fc.bias"][0].first, 3);
  EXPECT_FLOAT_EQ(points["parameter_norms/fc.bias"][0].second, norm);
  EXPECT_EQ(points["parameter_norms/fc.weight"][0].second, 0);
  EXPECT_FLOAT_EQ(points["optimizer/parameter_norm"][0].second, norm);
  EXPECT_FLOAT_EQ(points["parameter_gradient_norms/fc.bias"][0].second, gradient);
  EXPECT_FLOAT_EQ(points["optimizer/gradient_norm"].back().second, gradient);
  EXPECT_EQ(points["optimizer/gradient_norm"].size(), maxNorm > 0 ? 3U : 1U);
}

TEST_F(TrainingLog, IsPrintedByEveryRankWithItsNumberIfVerbose) {
  ::testing::internal::CaptureStdout();
  train([](Run& run) { run.options.verbose = true; });
  const std::string text = ::testing::internal::GetCapturedStdout();
  for (const int rank : {0, 1}) {
    const std::string prefix = ".rank " + std::to_string(rank) + "/2 [^ ]*. ";
    const std::string loss = std::to_string(1 + rank);
    EXPECT_THAT(text, ContainsRegex(prefix + "process [0-9]*, device cpu, threads [0-9]"));
    EXPECT_THAT(text, ContainsRegex(prefix + "epoch 1/1: train loss " + loss + "[.]0000, "));
  }
}

TEST_F(TrainingLog, IsLaidOutForThePageCustomScalars) {
  train([](Run& run) {
    run.options.metrics = {accuracyMetric(), accuracyMetric()};
    run.options.metrics[1].name = "top(1)";
  });
  CustomScalarsLayout layout;
  decodeLayout(readValues(logDir()).at("custom_scalars__config__").back(), &layout).throwIfError();
  std::vector<std::string> lines;
  for (const CustomScalarsCategory& category : layout.categories) {
    lines.push_back(category.title + (category.closed ? " (closed)" : ""));
    for (const CustomScalarsChart& chart : category.charts) {
      for (const std::string& tag : chart.tags) {
        lines.push_back(tag);
      }
      for (const auto& margin : chart.margins) {
        lines.push_back(margin[1] + " < " + margin[0] + " < " + margin[2]);
      }
    }
  }
  EXPECT_THAT(lines,
              ElementsAre("learning", "loss/train$", "loss/test$", "accuracy/test$",
                          "top\\(1\\)/test$", "loss/train/min < loss/train < loss/train/max",
                          "speed", "samples_per_second$", "teraflops_per_second$",
                          "straggler/slowdown$", "optimizer (closed)", "optimizer/learning_rate$"));
}

TEST_F(TrainingLog, HasTheEvaluationOfAStepOnceWhenThereIsNothingLeftToDo) {
  const auto change = [&](Run& run) {
    run.options.checkpointDirectory = logDir() + "/checkpoints";
    run.options.resume = true;
  };
  train(change);
  train(change);
  EXPECT_EQ(pointsOf()["loss/test"].size(), 1U);
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
