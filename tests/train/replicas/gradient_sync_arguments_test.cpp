// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>
#include <string>

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
using test::expectError;
using test::lossOf;
using test::SeededNet;
using test::World;
using testing::runRanksShared;

TEST(GradientSync, RejectsComplexNumbers) {
  torch::OrderedDict<std::string, at::Tensor> parameters;
  parameters.insert("phase", torch::ones({2}, torch::kComplexFloat).requires_grad_());
  expectError(
      ErrorCode::kInvalidArgument,
      "GradientSync: gradient of \"phase\": got type ComplexFloat; expected Float, Double, Half or "
      "BFloat16",
      [&] { GradientSync(parameters, std::make_shared<Communicator>()); });
}

TEST(GradientSync, RejectsAParameterThatIsGivenTwice) {
  torch::OrderedDict<std::string, at::Tensor> parameters;
  const at::Tensor tensor = torch::ones({2}).requires_grad_();
  parameters.insert("a", tensor);
  parameters.insert("b", tensor);
  expectError(ErrorCode::kInvalidArgument,
              "GradientSync: \"b\": got a parameter twice; expected each parameter once",
              [&] { GradientSync(parameters, std::make_shared<Communicator>()); });
}

TEST(GradientSync, RejectsOptionsOutOfRange) {
  const auto reject = [](GradientSyncOptions options, const std::string& message) {
    expectError(ErrorCode::kInvalidArgument, message, [&] {
      GradientSync(SeededNet(1)->named_parameters(), std::make_shared<Communicator>(), options);
    });
  };
  GradientSyncOptions options;
  options.bucketBytes = 0;
  reject(options, "got bucketBytes = 0; expected a positive number");
  options = {};
  options.accumulationSteps = -1;
  reject(options, "got accumulationSteps = -1; expected a positive number");
  options = {};
  options.maxNorm = std::nan("");
  reject(options, "got maxNorm = nan; expected a positive number, or 0 for none");
  options = {};
  options.predivideFactor = 0;
  reject(options, "got predivideFactor = 0");
}

TEST(GradientSync, NamesTheDifferingParameterOnEveryRank) {
  runRanksShared(3, [](const World& world) {
    SeededNet net(1, world->rank() == 2 ? 4 : 3);
    expectError(
        ErrorCode::kRankMismatch,
        "GradientSync: rank 2 has a different model from rank 0: got first.weight: Float [5, 4] "
        "with gradient; expected first.weight: Float [5, 3] with gradient",
        [&] { GradientSync(net->named_parameters(), world); });
  });
}

TEST(GradientSync, NamesTheDifferingOptionOnEveryRank) {
  runRanksShared(3, [](const World& world) {
    GradientSyncOptions options;
    options.accumulationSteps = world->rank() == 1 ? 4 : 2;
    expectError(
        ErrorCode::kRankMismatch,
        "GradientSync: rank 1 has a different option from rank 0: got accumulationSteps = 4; "
        "expected accumulationSteps = 2",
        [&] { GradientSync(SeededNet(1)->named_parameters(), world, options); });
  });
}

TEST(GradientSync, NamesTheDifferingOptimizerOnEveryRank) {
  for (const bool useSharedMemory : {true, false}) {
    runRanksShared(2, [&](const World& world) {
      SeededNet net(1);
      torch::optim::SGD optimizer(net->parameters(),
                                  torch::optim::SGDOptions(world->isRoot() ? 0.5 : 0.25));
      GradientSyncOptions options;
      options.useSharedMemory = useSharedMemory;
      GradientSync sync(net->named_parameters(), world, options);
      lossOf(net, batchOf(world->rank())).backward();
      expectError(
          ErrorCode::kRankMismatch,
          "GradientSync: rank 1 has a different optimizer from rank 0: got group 0 lr = 0.25; "
          "expected group 0 lr = 0.5",
          [&] { sync.step(optimizer); });
    });
  }
}

}  // namespace
}  // namespace steptape
