// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/parameters.h"

#include "support/expect_error.h"
#include "train/replicas/small_model.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using test::expectError;
using test::makeModel;
using testing::runRanks;

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
    AverageParametersOptions options;
    options.buffers = false;
    averageParameters(*model, world, options);
    EXPECT_TRUE(torch::equal(model->running_mean, torch::full({2}, double(world.rank()))));
    averageParameters(*model, world);
    EXPECT_EQ(model->num_batches_tracked.item<std::int64_t>(), world.rank());
    EXPECT_FLOAT_EQ(model->running_mean[0].item<float>(), static_cast<float>(world.size() - 1) / 2);
  });
}

TEST(AverageParameters, NamesAParameterWhoseTypeCannotBeAveraged) {
  runRanks(2, [](Communicator& world) {
    torch::nn::Module module;
    module.register_parameter("index", torch::ones({2}, torch::kLong), /*requires_grad=*/false);
    expectError(ErrorCode::kInvalidArgument,
                "averageParameters \"index\": got type Long; expected Float, Double, Half or",
                [&] { averageParameters(module, world); });
  });
}

TEST(AverageParameters, NamesTheRankWithAnotherModel) {
  runRanks(2, [](Communicator& world) {
    torch::nn::Linear model = makeModel(1, world.isRoot() ? 3 : 4);
    expectError(
        ErrorCode::kRankMismatch,
        "averageParameters: rank 1 has a different model from rank 0: got weight: Float [2, 4]",
        [&] { averageParameters(*model, world); });
  });
}

}  // namespace
}  // namespace steptape
