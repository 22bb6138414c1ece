// SPDX-License-Identifier: Apache-2.0
// Everything that needs a LibTorch module, in one translation unit: see CMakeLists.txt.
#include <filesystem>
#include <fstream>
#include <steptape/trainer.h>
#include <string>

#include "steptape/base/error.h"
#include "steptape/testing/temp_dir.h"
#include "steptape/testing/thread_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using testing::runRanksShared;
using World = std::shared_ptr<Communicator>;

constexpr std::int64_t kBatch = 4;

/// One layer whose first weights say which seed they came from.
torch::nn::Linear makeModel(std::uint64_t seed, std::int64_t inputs = 3) {
  torch::nn::Linear model(inputs, 2);
  const torch::NoGradGuard noGradients;
  model->weight.copy_(torch::arange(2 * inputs).view({2, inputs}).to(torch::kFloat) * 0.1F +
                      static_cast<float>(seed));
  model->bias.fill_(static_cast<float>(seed));
  return model;
}

/// Samples of rank `rank`; those of all ranks together are what one process sees.
torch::Tensor samplesOf(std::int64_t rank) {
  return torch::arange(kBatch * 3).view({kBatch, 3}).to(torch::kFloat) * 0.05F +
         static_cast<float>(rank);
}

torch::Tensor lossOf(torch::nn::Linear model, const torch::Tensor& samples) {
  return model->forward(samples).pow(2).mean();
}

template <typename Function>
void expectError(ErrorCode code, const std::string& message, Function&& function) {
  try {
    function();
    ADD_FAILURE() << "no error, wanted one with: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

class GradientSyncOnRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, GradientSyncOnRanks, ::testing::Values(1, 2, 3));

TEST_P(GradientSyncOnRanks, GivesTheGradientOfOneLargeBatch) {
  torch::nn::Linear single = makeModel(1);
  std::vector<torch::Tensor> samples;
  for (int rank = 0; rank < GetParam(); ++rank) {
    samples.push_back(samplesOf(rank));
  }
  lossOf(single, torch::cat(samples)).backward();

  runRanksShared(GetParam(), [&](const World& world) {
    torch::nn::Linear model = makeModel(1);
    GradientSync sync(model->named_parameters(), world);
    lossOf(model, samplesOf(world->rank())).backward();
    sync.synchronize();
    EXPECT_TRUE(torch::allclose(model->weight.grad(), single->weight.grad()));
    EXPECT_TRUE(torch::allclose(model->bias.grad(), single->bias.grad()));
  });
}

TEST_P(GradientSyncOnRanks, KeepsTheRanksEqualToTheBitOverManySteps) {
  runRanksShared(GetParam(), [](const World& world) {
    torch::nn::Linear model = makeModel(static_cast<std::uint64_t>(world->rank()));
    broadcastParameters(*model, *world);
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.01).momentum(0.5));
    GradientSync sync(model->named_parameters(), world);
    for (int step = 0; step < 20; ++step) {
      optimizer.zero_grad();
      lossOf(model, samplesOf(world->rank() + step)).backward();
      sync.synchronize();
      optimizer.step();
    }
    EXPECT_NO_THROW(checkParametersAreEqual(*model, *world));
  });
}

TEST(GradientSync, CountsAnUndefinedGradientAsZeros) {
  runRanksShared(2, [](const World& world) {
    torch::nn::Linear model = makeModel(1);
    GradientSync sync(model->named_parameters(), world);
    if (world->isRoot()) {
      model->bias.sum().backward();
    }
    sync.synchronize();
    EXPECT_TRUE(torch::equal(model->bias.grad(), torch::full({2}, 0.5)));
    EXPECT_TRUE(torch::equal(model->weight.grad(), torch::zeros({2, 3})));
  });
}

TEST(GradientSync, ForgetsTheGradientsOfTheStepBefore) {
  runRanksShared(2, [](const World& world) {
    torch::nn::Linear model = makeModel(1);
    GradientSync sync(model->named_parameters(), world);
    for (int step = 0; step < 2; ++step) {
      model->weight.mutable_grad().reset();
      model->bias.mutable_grad().reset();
      model->bias.sum().backward();
      sync.synchronize();
    }
    EXPECT_TRUE(torch::equal(model->bias.grad(), torch::ones({2})));
  });
}

TEST(GradientSync, AcceptsGradientsThatAreZeroedInPlace) {
  runRanksShared(2, [](const World& world) {
    torch::nn::Linear model = makeModel(1);
    GradientSync sync(model->named_parameters(), world);
    model->bias.sum().backward();
    sync.synchronize();
    const void* bucket = model->bias.grad().data_ptr();
    model->bias.mutable_grad().detach_();
    model->bias.mutable_grad().zero_();
    model->bias.sum().backward();
    sync.synchronize();
    EXPECT_TRUE(torch::equal(model->bias.grad(), torch::ones({2})));
    EXPECT_EQ(model->bias.grad().data_ptr(), bucket) << "the gradient was copied";
  });
}

TEST(GradientSync, AveragesInAsManyBucketsAsTheirSizeAsks) {
  runRanksShared(2, [](const World& world) {
    torch::nn::Linear model = makeModel(1);
    GradientSyncOptions options;
    options.bucketBytes = 1;
    GradientSync sync(model->named_parameters(), world, options);
    (model->bias.sum() + world->rank() * model->weight.sum()).backward();
    sync.synchronize();
    EXPECT_TRUE(torch::equal(model->bias.grad(), torch::ones({2})));
    EXPECT_TRUE(torch::equal(model->weight.grad(), torch::full({2, 3}, 0.5)));
  });
}

TEST(GradientSync, AveragesDoublesBesideFloats) {
  runRanksShared(2, [](const World& world) {
    torch::OrderedDict<std::string, at::Tensor> parameters;
    parameters.insert("a", torch::ones({2}, torch::kDouble).requires_grad_());
    parameters.insert("b", torch::ones({2}).requires_grad_());
    GradientSync sync(parameters, world);
    ((parameters["a"].sum() + parameters["b"].sum()) * world->rank()).backward();
    sync.synchronize();
    EXPECT_TRUE(torch::equal(parameters["a"].grad(), torch::full({2}, 0.5, torch::kDouble)));
    EXPECT_TRUE(torch::equal(parameters["b"].grad(), torch::full({2}, 0.5)));
  });
}

TEST(GradientSync, RejectsOtherTypesThanFloatAndDouble) {
  const auto world = std::make_shared<Communicator>();
  torch::OrderedDict<std::string, at::Tensor> parameters;
  parameters.insert("embedding", torch::ones({2}, torch::kHalf).requires_grad_());
  expectError(ErrorCode::kInvalidArgument,
              "cannot average the gradient of embedding, which is Half on cpu; wanted Float or "
              "Double on cpu",
              [&] { GradientSync(parameters, world); });
}

TEST(GradientSync, TellsEveryRankWhichParameterDiffers) {
  runRanksShared(3, [](const World& world) {
    torch::nn::Linear model = makeModel(1, world->rank() == 2 ? 4 : 3);
    expectError(ErrorCode::kRankMismatch,
                "GradientSync: rank 2 has another model than rank 0: got weight: Float [2, 4] with "
                "gradient, wanted weight: Float [2, 3] with gradient",
                [&] { GradientSync(model->named_parameters(), world); });
  });
}

TEST(Broadcast, GivesEveryRankTheRootsParametersAndBuffers) {
  runRanksShared(3, [](const World& world) {
    torch::nn::BatchNorm1d model(2);
    model->weight.detach().fill_(world->rank() + 1);
    model->running_mean.fill_(world->rank() + 1);
    broadcastParameters(*model, *world, 1);
    EXPECT_TRUE(torch::equal(model->weight, torch::full({2}, 2.0)));
    EXPECT_TRUE(torch::equal(model->running_mean, torch::full({2}, 2.0)));
  });
}

TEST(Broadcast, GivesEveryRankTheRootsMomentum) {
  runRanksShared(2, [](const World& world) {
    torch::nn::Linear model = makeModel(1);
    torch::optim::SGD optimizer(
        model->parameters(), torch::optim::SGDOptions(world->isRoot() ? 0.1 : 0.2).momentum(0.5));
    lossOf(model, samplesOf(world->rank())).backward();
    optimizer.step();
    broadcastParameters(*model, *world);
    broadcastOptimizerState(optimizer, *world);
    EXPECT_EQ(learningRateOf(optimizer), 0.1);
    lossOf(model, samplesOf(0)).backward();
    optimizer.zero_grad();
    lossOf(model, samplesOf(0)).backward();
    optimizer.step();
    EXPECT_NO_THROW(checkParametersAreEqual(*model, *world)) << "the momentum differed";
  });
}

TEST(Broadcast, FindsTheRankWhoseParametersDiffer) {
  runRanksShared(3, [](const World& world) {
    torch::nn::Linear model = makeModel(world->rank() == 1 ? 2 : 1);
    expectError(ErrorCode::kRankMismatch,
                "the parameters differ between ranks: got the checksums of rank 1 (0x",
                [&] { checkParametersAreEqual(*model, *world); });
  });
}

TEST(Recipe, ScalesTheLearningRateOfEveryGroup) {
  torch::nn::Linear model = makeModel(1);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.25));
  scaleLearningRate(optimizer, 4);
  EXPECT_EQ(learningRateOf(optimizer), 1.0);
  expectError(ErrorCode::kInvalidArgument, "cannot scale a learning rate by 0.0",
              [&] { scaleLearningRate(optimizer, 0); });
}

class Checkpoints : public ::testing::Test {
 protected:
  /// A step, so that the optimizer has momentum to keep.
  static void train(torch::nn::Linear model, torch::optim::Optimizer& optimizer) {
    optimizer.zero_grad();
    lossOf(model, samplesOf(0)).backward();
    optimizer.step();
  }

  void save() {
    torch::nn::Linear model = makeModel(1);
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.5));
    train(model, optimizer);
    saveCheckpoint(path_, *model, optimizer, TrainingProgress{2, 3, 17, 42, 1}, world_);
  }

  TrainingProgress load(torch::nn::Linear model) {
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.5));
    return loadCheckpoint(path_, *model, optimizer, world_);
  }

  testing::TempDir dir_;
  std::string path_ = checkpointPath(dir_.string() + "/new/directory");
  Communicator world_;
};

TEST_F(Checkpoints, KeepProgress) {
  save();
  for (const TrainingProgress& progress :
       {load(makeModel(9)), readCheckpointProgress(path_, world_)}) {
    EXPECT_EQ(progress.epoch, 2);
    EXPECT_EQ(progress.stepInEpoch, 3);
    EXPECT_EQ(progress.step, 17);
    EXPECT_EQ(progress.seed, 42U);
    EXPECT_EQ(progress.ranks, 1);
  }
}

TEST_F(Checkpoints, LetTrainingGoOnAsIfItHadNotStopped) {
  torch::nn::Linear model = makeModel(1);
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.5));
  train(model, optimizer);
  saveCheckpoint(path_, *model, optimizer, {}, world_);
  train(model, optimizer);
  const torch::Tensor random = torch::rand({3});

  torch::nn::Linear resumed = makeModel(9);
  torch::optim::SGD resumedOptimizer(resumed->parameters(), torch::optim::SGDOptions(0.7));
  loadCheckpoint(path_, *resumed, resumedOptimizer, world_);
  train(resumed, resumedOptimizer);
  EXPECT_TRUE(torch::equal(resumed->weight, model->weight));
  EXPECT_TRUE(torch::equal(torch::rand({3}), random)) << "the random numbers did not go on";
}

TEST_F(Checkpoints, ReachEveryRankFromTheRootsDisk) {
  save();
  runRanksShared(3, [&](const World& world) {
    torch::nn::Linear model = makeModel(9);
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.5));
    const std::string path = world->isRoot() ? path_ : "/nonexistent";
    EXPECT_TRUE(checkpointExists(path, *world));
    EXPECT_EQ(loadCheckpoint(path, *model, optimizer, *world).step, 17);
    EXPECT_NO_THROW(checkParametersAreEqual(*model, *world));
    EXPECT_NE(model->bias[0].item<float>(), 9.0F);
  });
}

TEST_F(Checkpoints, ReplaceThePreviousOneAndLeaveNothingBehind) {
  save();
  save();
  const auto directory = std::filesystem::path(path_).parent_path();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
}

TEST_F(Checkpoints, AreMissedOnEveryRank) {
  runRanksShared(2, [&](const World& world) {
    EXPECT_FALSE(checkpointExists(path_, *world));
    expectError(ErrorCode::kIoError, "cannot read " + path_ + ": No such file or directory",
                [&] { readCheckpointProgress(path_, *world); });
  });
}

TEST_F(Checkpoints, CannotBeWrittenBelowAFile) {
  std::ofstream(dir_.path() / "new") << "a file";
  runRanksShared(2, [&](const World& world) {
    torch::nn::Linear model = makeModel(1);
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1));
    expectError(ErrorCode::kIoError, "cannot create the directory " + dir_.string() + "/new",
                [&] { saveCheckpoint(path_, *model, optimizer, {}, *world); });
  });
}

TEST_F(Checkpoints, SayThatTheyAreTruncatedOrDamaged) {
  save();
  const auto size = std::filesystem::file_size(path_);
  for (const auto keep : {std::uintmax_t{0}, size / 4, size / 2, size - 1}) {
    save();
    std::filesystem::resize_file(path_, keep);
    expectError(ErrorCode::kDataLoss,
                "the checkpoint " + path_ + " is damaged: ", [&] { load(makeModel(9)); });
  }
}

TEST_F(Checkpoints, SayThatTheyHoldAnotherModel) {
  save();
  torch::nn::BatchNorm1d other(2);
  torch::optim::SGD optimizer(other->parameters(), torch::optim::SGDOptions(0.1));
  expectError(ErrorCode::kDataLoss, "the checkpoint " + path_ + " does not fit the model",
              [&] { loadCheckpoint(path_, *other, optimizer, world_); });
}

/// 22 images, every third one bright and of class 1, the others dark and of class 0; 11 batches.
class Training : public ::testing::Test {
 protected:
  static constexpr std::int64_t kImages = 22;

  struct Net : torch::nn::Module {
    /// Takes every image for class 0, to begin with.
    Net() : fc(register_module("fc", torch::nn::Linear(4, 2))) {
      const torch::NoGradGuard noGradients;
      fc->weight.zero_();
      fc->bias.copy_(torch::tensor({0.5F, 0.0F}));
    }
    torch::Tensor forward(const torch::Tensor& images) {
      const torch::Tensor dropped = torch::dropout(images.view({-1, 4}), 0.25, is_training());
      return torch::log_softmax(fc->forward(dropped), 1);
    }
    torch::nn::Linear fc;
  };

  static ImageDataset images() {
    const torch::Tensor labels = torch::arange(kImages).remainder(3).eq(0).to(torch::kLong);
    const torch::Tensor pixels = (labels * 200 + torch::arange(kImages)).view({kImages, 1, 1, 1});
    return {pixels.expand({kImages, 1, 2, 2}).to(torch::kByte), labels};
  }

  static DistributedSampler sampler(Communicator& world, bool forTraining) {
    DistributedSamplerOptions options;
    options.shuffle = forTraining;
    options.evenShares = forTraining;
    return {kImages, world, options};
  }

  TrainingResult fit(const World& world, TrainerOptions options,
                     const std::shared_ptr<Net>& net = std::make_shared<Net>()) {
    options.progress = ProgressStyle::kNone;
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.5));
    ImageLoader train(images(), sampler(*world, true), 2);
    ImageLoader test(images(), sampler(*world, false), 4);
    DistributedWriterOptions writerOptions;
    writerOptions.writer.enabled = false;
    DistributedWriter writer(dir_.string(), world, writerOptions);
    Trainer trainer(net, optimizer, world, writer, options);
    return trainer.fit(train, test);
  }

  TrainerOptions withCheckpoints(std::int64_t epochs, bool resume) {
    TrainerOptions options;
    options.epochs = epochs;
    options.checkpointDirectory = dir_.string();
    options.resume = resume;
    return options;
  }

  testing::TempDir dir_;
};

TEST_F(Training, LearnsOnEveryNumberOfRanks) {
  for (const int ranks : {1, 2, 3}) {
    runRanksShared(ranks, [&](const World& world) {
      TrainerOptions options;
      options.epochs = 20;
      const TrainingResult result = fit(world, options);
      EXPECT_EQ(result.epochs, 20);
      EXPECT_EQ(result.testAccuracy, 1.0);
      EXPECT_LT(result.testLoss, 0.3);
      EXPECT_GT(result.samplesPerSecond, 0);
    });
  }
}

TEST_F(Training, JudgesEveryTestImageOnceWhateverTheNumberOfRanks) {
  TrainerOptions options;
  options.epochs = 0;  // Only evaluates.
  const TrainingResult single = fit(std::make_shared<Communicator>(), options);
  EXPECT_EQ(single.testAccuracy, 14.0 / 22.0);  // On three ranks: 0 of 8, 7 of 7 and 7 of 7.
  runRanksShared(3, [&](const World& world) {
    const TrainingResult result = fit(world, options);
    EXPECT_EQ(result.testAccuracy, single.testAccuracy);
    EXPECT_NEAR(result.testLoss, single.testLoss, 1e-6);
  });
}

TEST_F(Training, StopsAfterMaxSteps) {
  TrainerOptions options;
  options.epochs = 3;
  options.maxSteps = 13;
  const TrainingResult result = fit(std::make_shared<Communicator>(), options);
  EXPECT_EQ(result.step, 13);
  EXPECT_EQ(result.epochs, 1);
}

TEST_F(Training, GoesOnInTheMiddleOfAnEpochAsIfItHadNotStopped) {
  const auto world = std::make_shared<Communicator>();
  const auto whole = std::make_shared<Net>();
  torch::manual_seed(5);
  TrainerOptions options;
  options.epochs = 2;
  fit(world, options, whole);

  const auto parts = std::make_shared<Net>();
  torch::manual_seed(5);
  TrainerOptions firstPart = withCheckpoints(2, false);
  firstPart.maxSteps = 4;
  fit(world, firstPart, parts);
  torch::manual_seed(99);
  const auto resumed = std::make_shared<Net>();
  const TrainingResult result = fit(world, withCheckpoints(2, true), resumed);
  EXPECT_EQ(result.step, 22);
  EXPECT_TRUE(torch::equal(resumed->fc->weight, whole->fc->weight));
}

TEST_F(Training, StartsWhereThereIsNoCheckpointYet) {
  EXPECT_EQ(fit(std::make_shared<Communicator>(), withCheckpoints(1, true)).step, 11);
}

TEST_F(Training, RefusesACheckpointOfAnotherNumberOfRanksInTheMiddleOfAnEpoch) {
  TrainerOptions options = withCheckpoints(1, false);
  options.maxSteps = 4;
  fit(std::make_shared<Communicator>(), options);
  runRanksShared(2, [&](const World& world) {
    expectError(ErrorCode::kInvalidArgument,
                "was written in the middle of an epoch on 1 ranks, got 2",
                [&] { fit(world, withCheckpoints(1, true)); });
  });
}

TEST_F(Training, ScalesTheLearningRateWithTheRanks) {
  runRanksShared(2, [&](const World& ranks) {
    torch::nn::Linear model = makeModel(1);
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1));
    DistributedWriterOptions writerOptions;
    writerOptions.writer.enabled = false;
    DistributedWriter writer(dir_.string(), ranks, writerOptions);
    TrainerOptions options;
    options.progress = ProgressStyle::kNone;
    options.scaleLearningRate = true;
    Trainer trainer(model, optimizer, ranks, writer, options);
    EXPECT_DOUBLE_EQ(learningRateOf(optimizer), 0.2);
  });
}

TEST_F(Training, TellsEveryRankWhoseShareDiffers) {
  runRanksShared(2, [&](const World& world) {
    torch::nn::Linear model = makeModel(1);
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1));
    DistributedWriterOptions writerOptions;
    writerOptions.writer.enabled = false;
    DistributedWriter writer(dir_.string(), world, writerOptions);
    ImageLoader train(images(), sampler(*world, true), world->rank() == 1 ? 4 : 2);
    Trainer trainer(model, optimizer, world, writer);
    expectError(ErrorCode::kRankMismatch,
                "Trainer: rank 1 has 3 training batches per epoch, wanted 6 as rank 0",
                [&] { trainer.fit(train, train); });
  });
}

}  // namespace
}  // namespace steptape
