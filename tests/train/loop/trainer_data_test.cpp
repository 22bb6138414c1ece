// SPDX-License-Identifier: Apache-2.0
// A Trainer with data sets and data loaders of torch::data, for a regression.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/values.h"
#include "steptape/train/torch_data.h"

#include "metrics/read_back.h"
#include "train/loop/training_fixture.h"

namespace steptape::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::Key;
using ::testing::Not;
using testing::runRanksShared;
using torch::data::DataLoaderOptions;
using torch::data::make_data_loader;
using torch::data::samplers::DistributedSequentialSampler;
using torch::data::samplers::SequentialSampler;

/// x from -1 to 1; the target is the number 3x + 1.
struct LineData : torch::data::datasets::Dataset<LineData> {
  static constexpr std::int64_t kSamples = 21;

  torch::data::Example<> get(std::size_t index) override {
    const torch::Tensor x = torch::full({1}, static_cast<double>(index) / 10 - 1);
    return {x, 3 * x + 1};
  }
  torch::optional<std::size_t> size() const override { return kSamples; }
};

auto lineBatches() {
  return LineData().map(torch::data::transforms::Stack<>());
}

DistributedSampler share(const Communicator& world, bool shuffle, bool evenShares) {
  DistributedSamplerOptions options;
  options.shuffle = shuffle;
  options.evenShares = evenShares;
  return {LineData::kSamples, world, options};
}

class Regression : public Training {
 protected:
  static TrainerOptions options(std::int64_t epochs) {
    TrainerOptions options;
    options.epochs = epochs;
    options.loss = [](const at::Tensor& output, const at::Tensor& targets) {
      return torch::mse_loss(output, targets);
    };
    options.metrics = {meanAbsoluteErrorMetric()};
    options.progress = ProgressStyle::kNone;
    return options;
  }

  /// Trains the rank's net, starting with zeros, on `train`, and evaluates it on all samples.
  TrainingResult fitOn(const World& world, BatchLoaderRef train, const TrainerOptions& options) {
    const torch::nn::Linear net = nets_.at(static_cast<std::size_t>(world->rank()));
    {
      const torch::NoGradGuard noGradients;
      net->weight.zero_();
      net->bias.zero_();
    }
    torch::optim::SGD optimizer(net->parameters(), 0.2);
    DistributedWriter writer(logDir(), world, writer_);
    DatasetLoader test(lineBatches(), share(*world, false, false), 4);
    Trainer trainer(net, optimizer, world, writer, options);
    trainer.on(TrainerEvent::kAfterBatch, [&](TrainingContext& context) {
      if (context.world.isRoot()) {
        lengths_.push_back(context.batchesPerEpoch);
      }
    });
    return trainer.fit(std::move(train), test);
  }

  torch::Tensor weights() const { return nets_[0]->weight.detach().clone(); }

  /// One per rank.
  std::vector<torch::nn::Linear> nets_{torch::nn::Linear(1, 1), torch::nn::Linear(1, 1),
                                       torch::nn::Linear(1, 1)};
  DistributedWriterOptions writer_ = silent();
  std::vector<std::int64_t> lengths_;  ///< TrainingContext::batchesPerEpoch in each batch.
};

TEST_F(Regression, IsLearntFromADatasetOfLibTorchOnEveryNumberOfRanks) {
  writer_ = DistributedWriterOptions();
  for (const int ranks : {1, 2}) {
    runRanksShared(ranks, [&](const World& world) {
      DatasetLoader train(lineBatches(), share(*world, true, true), 4);
      const TrainingResult result = fitOn(world, train, options(20));
      EXPECT_LT(result.metric("loss"), 1e-3);
      EXPECT_LT(result.metric("mean_absolute_error"), 0.05);
      EXPECT_THAT(result.metrics, ElementsAre(Field(&MetricValue::name, "loss"),
                                              Field(&MetricValue::name, "mean_absolute_error")));
    });
    EXPECT_NEAR(weights().item<double>(), 3, 0.1);
  }
  const PointsByTag points = readPoints(logDir());
  EXPECT_THAT(points, Contains(Key("mean_absolute_error/test")));
  EXPECT_THAT(points, Not(Contains(Key("accuracy/test"))));
}

TEST_F(Regression, IsJudgedByEverySampleOnceWhateverTheNumberOfRanks) {
  for (const int ranks : {1, 2, 3}) {
    runRanksShared(ranks, [&](const World& world) {
      DatasetLoader train(lineBatches(), share(*world, true, true), 4);
      const TrainingResult result = fitOn(world, train, options(0));
      // The output is 0, so these are the sums of |3x + 1| and of its square over the samples.
      EXPECT_NEAR(result.metric("mean_absolute_error"), 36.4 / 21, 1e-6);
      EXPECT_NEAR(result.metric("loss"), 90.3 / 21, 1e-5);
    });
  }
}

TEST_F(Regression, EndsWithTheBestModelByItsError) {
  DatasetLoader train(lineBatches(), share(*oneRank(), true, true), 4);
  TrainerOptions options = this->options(3);
  options.checkpointDirectory = dir_.string() + "/checkpoints";
  options.monitor.metric = "mean_absolute_error";
  options.monitor.keepBest = true;
  const TrainingResult result = fitOn(oneRank(), train, options);
  EXPECT_EQ(result.bestValue, result.metric("mean_absolute_error")) << "the last was the best";
}

TEST_F(Regression, NeedsAnExplicitLoss) {
  DatasetLoader train(lineBatches(), share(*oneRank(), true, true), 4);
  TrainerOptions options = this->options(1);
  options.loss = nullptr;
  expectError(ErrorCode::kInvalidArgument,
              "Trainer: got targets of the type Float for the default loss; expected int64 class "
              "numbers, or a TrainerOptions::loss",
              [&] { fitOn(oneRank(), train, options); });
}

TEST_F(Regression, HasNoErrorBetweenShapesThatDiffer) {
  expectError(ErrorCode::kInvalidArgument,
              "mean_absolute_error: got an output of shape [4, 1] for targets of shape [4]", [] {
                meanAbsoluteErrorMetric().function(torch::ones({4, 1}), torch::ones({4}));
              });
}

/// Data loaders without a known number of batches.
class UnknownLength : public Regression {};

TEST_F(UnknownLength, IsTrainedOnInTheLoadersOwnOrder) {
  const auto loader = make_data_loader(lineBatches(), SequentialSampler(LineData::kSamples), 4);
  const TrainingResult result = fitOn(oneRank(), *loader, options(2));
  const torch::Tensor weightsOfLoader = weights();
  EXPECT_EQ(result.step, 12);  // 21 samples are 6 batches.
  EXPECT_EQ(result.epochs, 2);
  EXPECT_GT(result.secondsPerEpoch, 0);
  EXPECT_THAT(lengths_, ElementsAre(0, 0, 0, 0, 0, 0, 6, 6, 6, 6, 6, 6));

  DatasetLoader sameOrder(lineBatches(), share(*oneRank(), false, true), 4);
  fitOn(oneRank(), sameOrder, options(2));
  EXPECT_TRUE(torch::equal(weights(), weightsOfLoader));
}

TEST_F(UnknownLength, IsTrainedOnByLoadersWithWorkers) {
  auto loader = make_data_loader(lineBatches(), SequentialSampler(LineData::kSamples),
                                 DataLoaderOptions(4).workers(2));
  EXPECT_EQ(fitOn(oneRank(), loader, options(2)).step, 12);
}

TEST_F(UnknownLength, LeavesOutBatchesThatFillNoStep) {
  auto loader = make_data_loader(lineBatches(), SequentialSampler(LineData::kSamples), 4);
  TrainerOptions options = this->options(2);
  options.gradientSync.accumulationSteps = 4;
  EXPECT_EQ(fitOn(oneRank(), loader, options).step, 2);
  options.gradientSync.accumulationSteps = 7;
  expectError(ErrorCode::kInvalidArgument, "Trainer: got 6 training batches; expected at least 7",
              [&] { fitOn(oneRank(), loader, options); });
}

TEST_F(UnknownLength, TrainsOnTheSharesOfTheRanks) {
  runRanksShared(2, [&](const World& world) {
    const DistributedSequentialSampler sampler(LineData::kSamples,
                                               static_cast<std::size_t>(world->size()),
                                               static_cast<std::size_t>(world->rank()));
    auto loader = make_data_loader(lineBatches(), sampler, 4);
    const TrainingResult result = fitOn(world, loader, options(20));
    EXPECT_EQ(result.step, 60);  // 11 samples on each rank are 3 batches.
    EXPECT_LT(result.metric("mean_absolute_error"), 0.05);
  });
}

TEST_F(UnknownLength, FailsOnAllRanksIfOneHasMoreBatches) {
  runRanksShared(3, [&](const World& world) {
    auto loader =
        make_data_loader(lineBatches(), SequentialSampler(LineData::kSamples),
                         DataLoaderOptions(world->rank() == 1 ? 5 : 7));  // 5 batches, or 3
    expectError(ErrorCode::kRankMismatch,
                "Trainer: the training data of some ranks ended after 3 steps of the epoch, those "
                "of others did not; expected equally many batches on every rank, or "
                "TrainerOptions::unevenBatches",
                [&] { fitOn(world, loader, options(2)); });
  });
}

TEST_F(UnknownLength, FailsOnAllRanksIfOneHasNoBatch) {
  runRanksShared(2, [&](const World& world) {
    auto loader = make_data_loader(lineBatches(), SequentialSampler(world->isRoot() ? 21 : 0), 7);
    expectError(ErrorCode::kRankMismatch, "ended after 0 steps of the epoch",
                [&] { fitOn(world, loader, options(1)); });
  });
}

TEST_F(UnknownLength, FailsOnAllRanksIfOneKnowsItsLength) {
  runRanksShared(2, [&](const World& world) {
    TorchLoaderOptions known;
    if (world->isRoot()) {
      known.batches = 3;
    }
    TorchLoader loader(make_data_loader(lineBatches(), SequentialSampler(21), 7), known);
    expectError(ErrorCode::kRankMismatch,
                "got training batches per epoch: unknown; expected training batches per epoch: 3",
                [&] { fitOn(world, loader, options(1)); });
  });
}

TEST_F(UnknownLength, ContinuesWithTheRanksThatStillHaveData) {
  for (const bool rootKnows : {false, true}) {
    runRanksShared(3, [&](const World& world) {
      TorchLoaderOptions known;
      if (rootKnows && world->isRoot()) {
        known.batches = 3;
      }
      TorchLoader loader(make_data_loader(lineBatches(), SequentialSampler(21),
                                          DataLoaderOptions(world->rank() == 1 ? 5 : 7)),
                         known);
      TrainerOptions options = this->options(2);
      options.unevenBatches = true;
      options.histograms = true;
      EXPECT_EQ(fitOn(world, loader, options).step, 10);
    });
  }
}

TEST_F(UnknownLength, IsTooLittleForAScheduleOfTheLearningRate) {
  const auto makeLoader = [] {
    return make_data_loader(lineBatches(), SequentialSampler(LineData::kSamples), 4);
  };
  TrainerOptions options = this->options(1);
  options.learningRate = LearningRateScheduleOptions();
  runRanksShared(2, [&](const World& world) {
    auto loader = makeLoader();
    expectError(ErrorCode::kInvalidArgument,
                "expected one whose BatchLoader::batches() is known, such as by "
                "TorchLoaderOptions::batches",
                [&] { fitOn(world, loader, options); });
  });
  TorchLoaderOptions known;
  known.batches = 6;
  TorchLoader loader(makeLoader(), known);
  EXPECT_EQ(fitOn(oneRank(), loader, options).step, 6);
}

TEST_F(UnknownLength, StopsAndResumesInTheMiddleOfAnEpoch) {
  const auto loader = make_data_loader(lineBatches(), SequentialSampler(LineData::kSamples), 4);
  fitOn(oneRank(), *loader, options(2));
  const torch::Tensor whole = weights();
  TrainerOptions options = this->options(2);
  options.checkpointDirectory = dir_.string() + "/checkpoints";
  options.maxSteps = 8;
  EXPECT_EQ(fitOn(oneRank(), *loader, options).stoppedBy, StopReason::kMaxSteps);
  options.maxSteps = 0;
  options.resume = true;
  EXPECT_EQ(fitOn(oneRank(), *loader, options).step, 12);
  EXPECT_TRUE(torch::equal(weights(), whole)) << weights() << "\nwanted\n" << whole;
}

/// Knows how many samples are used, but not how many exist.
class Stream final : public BatchLoader {
 public:
  explicit Stream(BatchLoader& samples) : samples_(samples) {}

  std::int64_t batches() const override { return kUnknownBatches; }
  std::uint64_t seed() const override { return samples_.seed(); }
  void startEpoch(std::int64_t epoch, std::int64_t skippedBatches) override {
    samples_.startEpoch(epoch, skippedBatches);
  }
  std::int64_t samplesDone() const override { return samples_.samplesDone(); }
  std::int64_t resumeEpoch(std::int64_t epoch, std::int64_t samplesDone) override {
    samples_.resumeEpoch(epoch, samplesDone);
    return kUnknownBatches;
  }
  bool next(Batch& batch) override { return samples_.next(batch); }

 private:
  BatchLoader& samples_;
};

TEST_F(UnknownLength, DoesNotCountSamplesReadAheadAsUsed) {
  DatasetLoader samples(lineBatches(), share(*oneRank(), true, true), 4);
  Stream stream(samples);
  fitOn(oneRank(), stream, options(1));
  const torch::Tensor whole = weights();
  TrainerOptions options = this->options(1);
  options.checkpointDirectory = dir_.string() + "/checkpoints";
  options.maxSteps = 2;
  fitOn(oneRank(), stream, options);
  options.maxSteps = 0;
  options.resume = true;
  EXPECT_EQ(fitOn(oneRank(), stream, options).step, 6);
  EXPECT_TRUE(torch::equal(weights(), whole)) << weights() << "\nwanted\n" << whole;
}

TEST_F(UnknownLength, HasHistogramsOfTheGradientsOfAnEpochsLastStep) {
  writer_ = DistributedWriterOptions();
  runRanksShared(2, [&](const World& world) {
    auto loader = make_data_loader(lineBatches(), SequentialSampler(LineData::kSamples), 21);
    fitOn(world, loader, options(1));
  });
  const std::map<std::string, std::vector<event::Value>> values = readValues(logDir());
  ASSERT_THAT(values, Contains(Key("parameter_gradients/bias")));
  HistogramValue histogram;
  decodeHistogram(values.at("parameter_gradients/bias").at(0), &histogram).throwIfError();
  // The gradient of the squared error at an output of 0: -2 times the mean of the targets, which is
  // 1.
  EXPECT_NEAR(histogram.buckets.front().left, -2, 1e-5);
}

TEST_F(Regression, ContinuesOnADifferentNumberOfRanksInTheMiddleOfAnEpoch) {
  TrainerOptions options = this->options(1);
  options.checkpointDirectory = dir_.string() + "/checkpoints";
  options.maxSteps = 3;
  DatasetLoader first(lineBatches(), share(*oneRank(), true, true), 3);
  fitOn(oneRank(), first, options);
  options.maxSteps = 0;
  options.resume = true;
  runRanksShared(2, [&](const World& world) {
    DatasetLoader second(lineBatches(), share(*world, true, true), 3);
    const TrainingResult result = fitOn(world, second, options);
    EXPECT_EQ(result.step, 3 + 2);  // 12 samples are left: 2 batches of 3 on each rank.
    EXPECT_EQ(result.epochs, 1);
  });
}

}  // namespace
}  // namespace steptape::test
