// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/sync_batch_norm.h"

#include <memory>
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/parameters.h"

#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using test::expectError;
using ::testing::ElementsAre;
using testing::runRanksShared;
using World = std::shared_ptr<Communicator>;

/// The samples of rank `rank`, in batches that differ in size: 1, 2, 3, ... of 2 x 3 pixels.
torch::Tensor imagesOf(int rank) {
  const std::int64_t size = rank + 1;
  const torch::Tensor numbers = torch::arange(size * 4 * 2 * 3, torch::kDouble);
  return ((numbers * 0.7 + rank).sin() * 3 + 5).view({size, 4, 2, 3});
}

/// Returns weights for the loss, so that every output has a different gradient.
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
  /// Returns all ranks' images, as one process would have them.
  static torch::Tensor allImages() {
    std::vector<torch::Tensor> images;
    for (int rank = 0; rank < GetParam(); ++rank) {
      images.push_back(imagesOf(rank));
    }
    return torch::cat(images);
  }

  /// Returns a rank's part of one process's result.
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
  // Each rank's gradients are of its own samples: together they are those of one process.
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

TEST(SyncBatchNorm, IgnoresARankWithoutSamples) {
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

TEST(SyncBatchNorm, RejectsInvalidInput) {
  runRanksShared(2, [](const World& world) {
    SyncBatchNorm layer(torch::nn::BatchNormOptions(4), world);
    expectError(
        ErrorCode::kInvalidArgument,
        "SyncBatchNorm: got Float [2, 3]; expected floating-point numbers in the shape (N, 4)",
        [&] {
          layer->forward(torch::zeros({2, 3}));
        });
    expectError(ErrorCode::kInvalidArgument,
                "got 1 values per channel on all ranks together; expected at least 2", [&] {
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
