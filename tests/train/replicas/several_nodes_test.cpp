// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "steptape/ranks/testing.h"
#include "steptape/train/gradient_sync.h"
#include "steptape/train/parameters.h"

#include "train/replicas/seeded_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using test::batchOf;
using test::batchOfAll;
using test::copiesOf;
using test::expectAllClose;
using test::lossOf;
using test::SeededNet;
using test::World;
using ::testing::HasSubstr;
using testing::runRanksShared;

TEST(GradientSync, ExchangesBetweenNodesThroughTheirFirstRanks) {
  for (const int ranks : {4, 6}) {
    SeededNet single(1);
    torch::optim::Adam singleOptimizer(single->parameters(), torch::optim::AdamOptions(0.01));
    for (int step = 0; step < 4; ++step) {
      singleOptimizer.zero_grad();
      lossOf(single, batchOfAll(ranks, step)).backward();
      singleOptimizer.step();
    }
    testing::RunRanksOptions two;
    two.ranksPerNode = 2;
    runRanksShared(
        ranks,
        [&](const World& world) {
          SeededNet net(1);
          torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));
          GradientSync sync(net->named_parameters(), world);
          for (int step = 0; step < 4; ++step) {
            optimizer.zero_grad();
            lossOf(net, batchOf(world->rank(), step)).backward();
            sync.step(optimizer);
          }
          expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
          EXPECT_NO_THROW(checkParametersAreEqual(*net, *world));
          EXPECT_THAT(sync.describe(), HasSubstr("on " + std::to_string(ranks / 2) + " nodes"));
        },
        two);
  }
}

TEST(GradientSync, UpdatesAParameterThatOnlyOneNodeUsed) {
  constexpr int kRanks = 4;
  const auto lossOn = [](SeededNet net, int rank) {
    return rank < 2 ? net->second->forward(torch::ones({1, 5})).pow(2).mean()
                    : lossOf(net, batchOf(rank));
  };
  SeededNet single(1);
  torch::optim::SGD singleOptimizer(single->parameters(), torch::optim::SGDOptions(0.1));
  for (int rank = 0; rank < kRanks; ++rank) {
    (lossOn(single, rank) / kRanks).backward();
  }
  singleOptimizer.step();
  testing::RunRanksOptions two;
  two.ranksPerNode = 2;
  runRanksShared(
      kRanks,
      [&](const World& world) {
        SeededNet net(1);
        torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
        GradientSync sync(net->named_parameters(), world);
        lossOn(net, world->rank()).backward();
        sync.step(optimizer);
        expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
      },
      two);
}

TEST(GradientSync, SendsSixteenBitsBetweenNodesIfRequested) {
  testing::RunRanksOptions two;
  two.ranksPerNode = 2;
  for (const Compression compression : {Compression::kFp16, Compression::kBf16}) {
    runRanksShared(
        4,
        [&](const World& world) {
          // One third needs more than the 24 bits of float32; four times 60000 exceeds float16.
          const at::Tensor weight = torch::zeros({2}).requires_grad_();
          torch::OrderedDict<std::string, at::Tensor> parameters;
          parameters.insert("weight", weight);
          GradientSyncOptions options;
          options.compression = compression;
          GradientSync sync(parameters, world, options);
          (weight * torch::tensor({1.0F / 3, 60000.0F})).sum().backward();
          sync.synchronize();
          const float third = weight.grad()[0].item<float>();
          EXPECT_NE(third, 1.0F / 3);
          EXPECT_NEAR(third, 1.0F / 3, 2e-3);
          EXPECT_NEAR(weight.grad()[1].item<float>(), 60000, 200);
          EXPECT_THAT(sync.describe(), HasSubstr("shared memory, 4 ranks on 2 nodes"));
        },
        two);
  }
}

}  // namespace
}  // namespace steptape
