// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/gradient_sync.h"

#include "support/expect_error.h"
#include "train/replicas/seeded_net.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using test::batchOf;
using test::batchOfAll;
using test::copiesOf;
using test::expectAllClose;
using test::expectError;
using test::gradientsOf;
using test::lossOf;
using test::SeededNet;
using test::World;
using testing::runRanksShared;

TEST(GradientSync, PutsParametersOfAllRanksOfANodeIntoOneMemory) {
  std::vector<SeededNet> nets(2, nullptr);
  runRanksShared(2, [&](const World& world) {
    SeededNet& net = nets[static_cast<std::size_t>(world->rank())];
    net = SeededNet(1);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    lossOf(net, batchOf(world->rank())).backward();
    sync.step(optimizer);
    world->barrier();
    EXPECT_EQ(nets[0]->first->weight.data_ptr(), nets[1]->first->weight.data_ptr());
    world->barrier();
  });
  EXPECT_NE(nets[0]->first->weight.data_ptr(), nets[1]->first->weight.data_ptr());
}

TEST(GradientSync, TakesBackAParameterThatOneRankHasMovedAway) {
  const auto optimizerFor = [](const SeededNet& net) {
    return torch::optim::SGD(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  };
  SeededNet single(1);
  torch::optim::SGD singleOptimizer = optimizerFor(single);
  for (int step = 0; step < 4; ++step) {
    singleOptimizer.zero_grad();
    lossOf(single, batchOfAll(2, step)).backward();
    singleOptimizer.step();
  }
  for (const int mover : {0, 1}) {
    runRanksShared(2, [&](const World& world) {
      SeededNet net(1);
      torch::optim::SGD optimizer = optimizerFor(net);
      GradientSync sync(net->named_parameters(), world);
      for (int step = 0; step < 4; ++step) {
        if (step == 2 && world->rank() == mover) {
          net->first->weight.set_data(net->first->weight.detach().clone());
        }
        optimizer.zero_grad();
        lossOf(net, batchOf(world->rank(), step)).backward();
        sync.step(optimizer);
      }
      expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
    });
  }
}

TEST(GradientSync, KeepsTheAveragesAfterAStepIfRequested) {
  SeededNet single(1);
  lossOf(single, batchOfAll(2)).backward();
  const std::vector<at::Tensor> wanted = gradientsOf(single);
  torch::optim::SGD singleOptimizer(single->parameters(), torch::optim::SGDOptions(0.1));
  singleOptimizer.step();
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    sync.setKeepGradients(true);
    lossOf(net, batchOf(world->rank())).backward();
    sync.step(optimizer);
    expectAllClose(gradientsOf(net), wanted);
    expectAllClose(copiesOf(net->parameters()), single->parameters());
  });
}

TEST(GradientSync, RejectsSynchronizeAfterSharedStep) {
  runRanksShared(2, [](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    lossOf(net, batchOf(world->rank())).backward();
    sync.step(optimizer);
    expectError(ErrorCode::kFailedPrecondition, "synchronize: got a call after step()",
                [&] { sync.synchronize(); });
  });
}

TEST(GradientSync, RefusesASecondOptimizer) {
  runRanksShared(2, [](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
    torch::optim::SGD other(net->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    lossOf(net, batchOf(world->rank())).backward();
    sync.step(optimizer);
    expectError(ErrorCode::kInvalidArgument, "got another optimizer than before",
                [&] { sync.step(other); });
  });
}

}  // namespace
}  // namespace steptape
