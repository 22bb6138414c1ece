// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <string>

#include "steptape/base/error.h"
#include "steptape/testing/thread_communicator.h"
#include "steptape/trainer/average_parameters.h"
#include "steptape/trainer/broadcast.h"
#include "steptape/trainer/learning_rate_schedule.h"
#include "steptape/trainer/recipe.h"
#include "steptape/trainer/sync_batch_norm.h"

#include "distributed/counting_communicator.h"
#include "distributed/expect_error.h"
#include "trainer/small_model.h"
#include "trainer/tensor_broadcast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using test::expectError;
using test::makeModel;
using test::momentumSgd;
using test::trainStep;
using ::testing::ElementsAre;
using testing::runRanks;
using testing::runRanksShared;
using World = std::shared_ptr<Communicator>;

TEST(BroadcastParameters, GivesEveryRankTheRootsParametersAndBuffers) {
  runRanks(3, [](Communicator& world) {
    torch::nn::BatchNorm1d model(2);
    model->weight.detach().fill_(world.rank() + 1);
    model->running_mean.fill_(world.rank() + 1);
    model->num_batches_tracked.fill_(world.rank() + 1);
    broadcastParameters(*model, world, 1);
    EXPECT_TRUE(torch::equal(model->weight, torch::full({2}, 2.0)));
    EXPECT_TRUE(torch::equal(model->running_mean, torch::full({2}, 2.0)));
    EXPECT_EQ(model->num_batches_tracked.item<std::int64_t>(), 2);
  });
}

TEST(BroadcastParameters, BringsTensorsOfEverySizeTypeAndLayoutIntoPlace) {
  constexpr auto kLarge = static_cast<std::int64_t>(detail::kBroadcastGroupBytes / 4 + 1);
  runRanks(2, [&](Communicator& world) {
    torch::nn::Module module;
    const auto value = static_cast<double>(world.rank());
    const std::vector<torch::Tensor> tensors = {
        module.register_buffer("odd", torch::full({3}, value, torch::kHalf)),
        module.register_buffer("double", torch::full({2, 2}, value, torch::kDouble)),
        module.register_buffer("none", torch::empty({0})),
        module.register_buffer("large", torch::full({kLarge}, value)),
        module.register_buffer("transposed", torch::full({4, 2}, value).t()),
        module.register_buffer("flag", torch::full({1}, world.rank() == 1, torch::kBool)),
    };
    broadcastParameters(module, world, 1);
    for (const torch::Tensor& tensor : tensors) {
      EXPECT_TRUE(torch::equal(tensor, torch::ones_like(tensor))) << tensor.scalar_type();
    }
  });
}

TEST(BroadcastParameters, SendsSmallTensorsTogether) {
  runRanksShared(2, [](const World& world) {
    const auto collectivesFor = [&](int tensors) {
      torch::nn::Module module;
      for (int i = 0; i < tensors; ++i) {
        module.register_buffer(std::to_string(i), torch::zeros({i}));
      }
      test::CountingCommunicator counter(world);
      broadcastParameters(module, counter);
      return counter.collectives();
    };
    EXPECT_EQ(collectivesFor(100), collectivesFor(2));
  });
}

using MakeOptimizer =
    std::function<std::unique_ptr<torch::optim::Optimizer>(const std::vector<torch::Tensor>&)>;

struct OptimizerCase {
  const char* name;
  MakeOptimizer make;
};

template <typename Optimizer, typename Options>
OptimizerCase optimizerCase(const char* name, Options options) {
  return {name, [options](const std::vector<torch::Tensor>& parameters) {
            return std::make_unique<Optimizer>(parameters, options);
          }};
}

class EveryOptimizer : public ::testing::TestWithParam<OptimizerCase> {
 protected:
  /// Lets ranks make so many steps on data of their own, broadcasts, and expects them to make the
  /// same steps from then on.
  static void expectStepsInUnison(int stepsOfRoot, int stepsOfOthers) {
    runRanks(3, [&](Communicator& world) {
      torch::nn::Linear model = makeModel(world.rank());
      const auto optimizer = GetParam().make(model->parameters());
      const bool isRoot = world.rank() == 1;
      for (int step = 0; step < (isRoot ? stepsOfRoot : stepsOfOthers); ++step) {
        trainStep(model, *optimizer, 10 * world.rank() + step);
      }
      broadcastParameters(*model, world, 1);
      broadcastOptimizerState(*optimizer, world, 1);
      for (int step = 0; step < 3; ++step) {
        trainStep(model, *optimizer, step);
        ASSERT_NO_THROW(checkParametersAreEqual(*model, world)) << "after step " << step;
      }
    });
  }
};

INSTANTIATE_TEST_SUITE_P(
    Of, EveryOptimizer,
    ::testing::Values(
        optimizerCase<torch::optim::SGD>("Sgd", torch::optim::SGDOptions(0.01).momentum(0.9)),
        optimizerCase<torch::optim::Adam>("Adam", torch::optim::AdamOptions(0.01).amsgrad(true)),
        optimizerCase<torch::optim::AdamW>("AdamW", torch::optim::AdamWOptions(0.01)),
        optimizerCase<torch::optim::Adagrad>("Adagrad", torch::optim::AdagradOptions(0.01)),
        optimizerCase<torch::optim::RMSprop>(
            "RmsProp", torch::optim::RMSpropOptions(0.01).momentum(0.9).centered(true)),
        optimizerCase<torch::optim::LBFGS>("Lbfgs", torch::optim::LBFGSOptions(0.01).max_iter(3))),
    [](const auto& test) { return test.param.name; });

TEST_P(EveryOptimizer, KeepsRanksEqualAfterABroadcast) {
  expectStepsInUnison(2, 2);
}
TEST_P(EveryOptimizer, TakesOverStateThatOnlyTheRootHas) {
  expectStepsInUnison(2, 0);
}
TEST_P(EveryOptimizer, ForgetsStateThatTheRootDoesNotHave) {
  expectStepsInUnison(0, 2);
}

TEST(BroadcastOptimizerState, GivesEveryRankTheRootsOptions) {
  runRanks(2, [](Communicator& world) {
    torch::nn::Linear model = makeModel(1);
    torch::optim::SGD optimizer(model->parameters(),
                                torch::optim::SGDOptions(world.isRoot() ? 0.1 : 0.2));
    broadcastOptimizerState(optimizer, world);
    EXPECT_EQ(learningRateOf(optimizer), 0.1);
  });
}

TEST(BroadcastOptimizerState, NamesTheRankWithAnotherKindOfOptimizer) {
  runRanks(3, [](Communicator& world) {
    torch::nn::Linear model = makeModel(1);
    std::unique_ptr<torch::optim::Optimizer> optimizer = momentumSgd(model->parameters());
    if (world.rank() == 2) {
      optimizer = std::make_unique<torch::optim::Adam>(model->parameters());
    }
    expectError(ErrorCode::kRankMismatch,
                "broadcastOptimizerState: rank 2 has another optimizer than rank 0: got an "
                "optimizer of type torch::optim::Adam, wanted an optimizer of type "
                "torch::optim::SGD",
                [&] { broadcastOptimizerState(*optimizer, world); });
  });
}

TEST(BroadcastOptimizerState, NamesTheRankWithOtherGroups) {
  runRanks(2, [](Communicator& world) {
    torch::nn::Linear model = makeModel(1);
    const auto optimizer = momentumSgd({model->weight});
    if (world.rank() == 1) {
      optimizer->add_param_group(torch::optim::OptimizerParamGroup({model->bias}));
    }
    expectError(ErrorCode::kRankMismatch, "got group 1 of 1 parameters, wanted nothing",
                [&] { broadcastOptimizerState(*optimizer, world); });
  });
}

TEST(BroadcastOptimizerState, SaysOnEveryRankThatAnOptimizerCannotBeSaved) {
  class Plain final : public torch::optim::SGD {
   public:
    using SGD::SGD;
    void save(torch::serialize::OutputArchive& /*archive*/) const override {
      TORCH_CHECK(false, "not made for this");
    }
  };
  runRanks(2, [](Communicator& world) {
    torch::nn::Linear model = makeModel(1);
    Plain optimizer(model->parameters(), torch::optim::SGDOptions(0.1));
    expectError(ErrorCode::kInvalidArgument, "broadcastOptimizerState: rank 0: not made for this",
                [&] { broadcastOptimizerState(optimizer, world); });
  });
}

TEST(CheckParametersAreEqual, FindsTheRankWhoseParametersDiffer) {
  runRanks(3, [](Communicator& world) {
    torch::nn::Linear model = makeModel(world.rank() == 1 ? 2 : 1);
    expectError(ErrorCode::kRankMismatch,
                "the parameters differ between ranks: got the checksums of rank 1 (0x",
                [&] { checkParametersAreEqual(*model, world); });
  });
}

class AverageParameters : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, AverageParameters, ::testing::Values(1, 2, 3, 7));

TEST_P(AverageParameters, GivesTheMeanOfEveryFloatingPointType) {
  const double mean = (GetParam() - 1) / 2.0;
  runRanks(GetParam(), [&](Communicator& world) {
    torch::nn::Module module;
    std::vector<torch::Tensor> tensors;
    for (const auto type : {torch::kFloat, torch::kHalf, torch::kDouble, torch::kBFloat16}) {
      const std::string name = c10::toString(type);
      const auto value = torch::full({3, 2}, world.rank(), type);
      tensors.push_back(module.register_parameter(name, value.clone()));
      tensors.push_back(module.register_parameter(name + " transposed", value.t()));
      tensors.push_back(module.register_buffer(name + " buffer", value.clone()));
    }
    averageParameters(module, world);
    for (const torch::Tensor& tensor : tensors) {
      EXPECT_TRUE(torch::equal(tensor, torch::full_like(tensor, mean))) << tensor;
    }
  });
}

TEST_P(AverageParameters, LeavesCountersAndOnDemandBuffersAlone) {
  runRanks(GetParam(), [](Communicator& world) {
    torch::nn::BatchNorm1d model(2);
    model->running_mean.fill_(world.rank());
    model->num_batches_tracked.fill_(world.rank());
    AverageOptions options;
    options.buffers = false;
    averageParameters(*model, world, options);
    EXPECT_TRUE(torch::equal(model->running_mean, torch::full({2}, double(world.rank()))));
    averageParameters(*model, world);
    EXPECT_EQ(model->num_batches_tracked.item<std::int64_t>(), world.rank());
    EXPECT_FLOAT_EQ(model->running_mean[0].item<float>(), static_cast<float>(world.size() - 1) / 2);
  });
}

TEST(AverageParameters, NamesAParameterThatHasNoMean) {
  runRanks(2, [](Communicator& world) {
    torch::nn::Module module;
    module.register_parameter("index", torch::ones({2}, torch::kLong), /*requires_grad=*/false);
    expectError(ErrorCode::kInvalidArgument,
                "cannot average the parameter index of type Long, wanted Float, Double, Half or",
                [&] { averageParameters(module, world); });
  });
}

TEST(AverageParameters, NamesTheRankWithAnotherModel) {
  runRanks(2, [](Communicator& world) {
    torch::nn::Linear model = makeModel(1, world.isRoot() ? 3 : 4);
    expectError(ErrorCode::kRankMismatch,
                "averageParameters: rank 1 has another model than rank 0: got weight: Float [2, 4]",
                [&] { averageParameters(*model, world); });
  });
}

TEST(Schedule, SetsTheRateOfEveryGroup) {
  torch::nn::Linear model = makeModel(1);
  torch::optim::SGD optimizer({torch::optim::OptimizerParamGroup({model->weight}),
                               torch::optim::OptimizerParamGroup({model->bias})},
                              torch::optim::SGDOptions(0.1));
  optimizer.param_groups()[1].options().set_lr(0.01);
  LearningRateOptions options;
  options.scale = 4;
  options.warmUpEpochs = 2;
  const LearningRateSchedule schedule(optimizer, options);
  schedule.apply(optimizer, 1);
  schedule.apply(optimizer, 1);  // depends on no call before
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 0.25);
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[1].options().get_lr(), 0.025);
  const auto other = momentumSgd(model->parameters());
  expectError(ErrorCode::kInvalidArgument, "has base rates for 2 groups, got an optimizer with 1",
              [&] { schedule.apply(*other, 0); });
}

TEST(Recipe, ScalesTheLearningRateOfEveryGroup) {
  torch::nn::Linear model = makeModel(1);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.25));
  scaleLearningRate(optimizer, 4);
  EXPECT_EQ(learningRateOf(optimizer), 1.0);
  expectError(ErrorCode::kInvalidArgument, "cannot scale a learning rate by 0.0",
              [&] { scaleLearningRate(optimizer, 0); });
}

/// The samples of rank `rank`, in batches that differ in size: 1, 2, 3, ... of 2 x 3 pixels.
torch::Tensor imagesOf(int rank) {
  const std::int64_t size = rank + 1;
  const torch::Tensor numbers = torch::arange(size * 4 * 2 * 3, torch::kDouble);
  return ((numbers * 0.7 + rank).sin() * 3 + 5).view({size, 4, 2, 3});
}

/// What the loss weighs each output by, so that every output has another gradient.
torch::Tensor weightsFor(const torch::Tensor& images) {
  return (images * 1.3).cos();
}

struct BatchNormOutcome {
  torch::Tensor output;
  torch::Tensor inputGradient;
};

template <typename Layer>
BatchNormOutcome run(Layer& layer, const torch::Tensor& images) {
  const torch::Tensor input = images.clone().requires_grad_();
  const torch::Tensor output = layer->forward(input);
  (output * weightsFor(images).to(output.scalar_type())).sum().backward();
  return {output.detach(), input.grad()};
}

template <typename Layer>
void setParameters(Layer& layer) {
  const torch::NoGradGuard noGradients;
  layer->weight.copy_(torch::tensor({0.5, 1.0, -1.5, 2.0}));
  layer->bias.copy_(torch::tensor({0.1, 0.2, 0.3, 0.4}));
}

class SyncBatchNormOnRanks : public ::testing::TestWithParam<int> {
 protected:
  /// All ranks' images, as one process would have them.
  static torch::Tensor allImages() {
    std::vector<torch::Tensor> images;
    for (int rank = 0; rank < GetParam(); ++rank) {
      images.push_back(imagesOf(rank));
    }
    return torch::cat(images);
  }

  /// The part of one process's result that belongs to a rank.
  static torch::Tensor partOf(const torch::Tensor& whole, int rank) {
    return whole.narrow(0, rank * (rank + 1) / 2, rank + 1);
  }
};

INSTANTIATE_TEST_SUITE_P(Ranks, SyncBatchNormOnRanks, ::testing::Values(1, 2, 3, 7));

TEST_P(SyncBatchNormOnRanks, DoesWhatBatchNormDoesWithAllRanksSamples) {
  torch::nn::BatchNorm2d single(torch::nn::BatchNormOptions(4));
  single->to(torch::kDouble);
  setParameters(single);
  const BatchNormOutcome wanted = run(single, allImages());

  std::vector<torch::Tensor> weightGradients(static_cast<std::size_t>(GetParam()));
  runRanksShared(GetParam(), [&](const World& world) {
    SyncBatchNorm layer(torch::nn::BatchNormOptions(4), world);
    layer->to(torch::kDouble);
    setParameters(layer);
    const BatchNormOutcome got = run(layer, imagesOf(world->rank()));
    EXPECT_TRUE(torch::allclose(got.output, partOf(wanted.output, world->rank()), 1e-10, 1e-10));
    EXPECT_TRUE(torch::allclose(got.inputGradient, partOf(wanted.inputGradient, world->rank()),
                                1e-10, 1e-10));
    EXPECT_TRUE(torch::allclose(layer->running_mean, single->running_mean, 1e-10));
    EXPECT_TRUE(torch::allclose(layer->running_var, single->running_var, 1e-10));
    EXPECT_EQ(layer->num_batches_tracked.item<std::int64_t>(), 1);
    weightGradients[static_cast<std::size_t>(world->rank())] =
        torch::stack({layer->weight.grad(), layer->bias.grad()});
  });
  // Each rank's are of its own samples: together they are those of one process.
  EXPECT_TRUE(torch::allclose(torch::stack(weightGradients).sum(0),
                              torch::stack({single->weight.grad(), single->bias.grad()}), 1e-10));
}

TEST(SyncBatchNorm, TakesFloatsVectorsAndHalves) {
  runRanksShared(2, [](const World& world) {
    for (const auto type : {torch::kFloat, torch::kBFloat16}) {
      torch::nn::BatchNorm1d single(4);
      SyncBatchNorm layer(torch::nn::BatchNormOptions(4), world);
      const torch::Tensor vectors = imagesOf(6).flatten(2).mean(2);  // the same on both ranks
      const BatchNormOutcome wanted = run(single, vectors.to(torch::kFloat));
      const BatchNormOutcome got = run(layer, vectors.to(type));
      const double tolerance = type == torch::kFloat ? 1e-4 : 0.05;
      EXPECT_EQ(got.output.scalar_type(), type);
      EXPECT_TRUE(
          torch::allclose(got.output.to(torch::kFloat), wanted.output, tolerance, tolerance));
      EXPECT_TRUE(torch::allclose(got.inputGradient.to(torch::kFloat), wanted.inputGradient,
                                  tolerance, tolerance));
    }
  });
}

TEST(SyncBatchNorm, CountsARankWithoutSamplesForNothing) {
  runRanksShared(3, [](const World& world) {
    torch::nn::BatchNorm2d single(torch::nn::BatchNormOptions(4).momentum(torch::nullopt));
    single->to(torch::kDouble);
    SyncBatchNorm layer(torch::nn::BatchNormOptions(4).momentum(torch::nullopt), world);
    layer->to(torch::kDouble);
    for (int step = 0; step < 2; ++step) {
      const torch::Tensor images = imagesOf(3) + step;
      const torch::Tensor wanted = single->forward(images);
      const bool isEmpty = world->rank() == 1;
      const BatchNormOutcome got = run(layer, images.narrow(0, world->isRoot() ? 0 : 1,
                                                            isEmpty           ? 0
                                                            : world->isRoot() ? 1
                                                                              : 3));
      EXPECT_TRUE(isEmpty || torch::allclose(got.output[0], wanted[world->isRoot() ? 0 : 1]));
    }
    EXPECT_TRUE(torch::allclose(layer->running_var, single->running_var));
  });
}

TEST(SyncBatchNorm, IsBatchNormInEvaluation) {
  runRanksShared(2, [](const World& world) {
    torch::nn::BatchNorm2d single(4);
    setParameters(single);
    run(single, imagesOf(1).to(torch::kFloat));
    single->eval();
    SyncBatchNorm layer(*single, world);
    EXPECT_FALSE(layer->is_training());
    if (world->isRoot()) {  // no other rank takes part
      const torch::Tensor images = imagesOf(2).to(torch::kFloat);
      EXPECT_TRUE(torch::equal(layer->forward(images), single->forward(images)));
    }
  });
}

TEST(SyncBatchNorm, RejectsWhatItCannotNormalise) {
  runRanksShared(2, [](const World& world) {
    SyncBatchNorm layer(torch::nn::BatchNormOptions(4), world);
    expectError(ErrorCode::kInvalidArgument,
                "SyncBatchNorm got Float [2, 3], wanted floating-point numbers in the shape (N, 4)",
                [&] {
                  layer->forward(torch::zeros({2, 3}));
                });
    expectError(ErrorCode::kInvalidArgument,
                "got 1 values per channel on all ranks together, wanted at least 2", [&] {
                  layer->forward(torch::zeros({world->isRoot() ? 1 : 0, 4}));
                });
    const torch::Tensor input = torch::rand({2, 4}).requires_grad_();
    expectError(ErrorCode::kFailedPrecondition, "cannot be differentiated twice", [&] {
      torch::autograd::grad({layer->forward(input).sum()}, {input}, {}, torch::nullopt,
                            /*create_graph=*/true);
    });
  });
}

/// A container whose layers can be replaced, and a layer that only its class can replace.
struct ConvertedNet : torch::nn::Module {
  ConvertedNet() {
    register_module("features", features);
    register_module("bn", bn);
  }
  torch::nn::Sequential features{torch::nn::BatchNorm2d(4), torch::nn::ReLU()};
  torch::nn::BatchNorm2d bn{4};
};

TEST(ConvertSyncBatchNorm, ReplacesTheLayersOfContainersAndNamesTheOthers) {
  runRanksShared(2, [](const World& world) {
    ConvertedNet net;
    const torch::Tensor weight = net.named_parameters()["features.0.weight"];
    const SyncBatchNormConversion conversion = convertSyncBatchNorm(net, *world);
    EXPECT_THAT(conversion.converted, ElementsAre("features.0"));
    EXPECT_THAT(conversion.left, ElementsAre("bn"));
    EXPECT_TRUE(net.named_parameters()["features.0.weight"].is_same(weight))
        << "an optimizer made before would go on with another tensor";
    net.features->forward(imagesOf(world->rank()).to(torch::kFloat));
    const torch::Tensor means = net.named_buffers()["features.0.running_mean"].clone();
    broadcastParameters(net, *world);
    EXPECT_TRUE(torch::equal(net.named_buffers()["features.0.running_mean"], means))
        << "the ranks had statistics of their own";
    EXPECT_NE(means[0].item<float>(), 0.0F);
  });
}

}  // namespace
}  // namespace steptape
