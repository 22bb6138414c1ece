// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <string>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/parameters.h"

#include "ranks/communicator/counting_communicator.h"
#include "support/expect_error.h"
#include "train/replicas/model/tensor_broadcast.h"
#include "train/replicas/small_model.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using test::expectError;
using test::makeModel;
using test::momentumSgd;
using test::trainStep;
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
  constexpr auto kLarge = static_cast<std::int64_t>(detail::train::kBroadcastGroupBytes / 4 + 1);
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

using MakeBroadcastOptimizer =
    std::function<std::unique_ptr<torch::optim::Optimizer>(const std::vector<torch::Tensor>&)>;

struct BroadcastCase {
  const char* name;
  MakeBroadcastOptimizer make;
};

template <typename Optimizer, typename Options>
BroadcastCase optimizerCase(const char* name, Options options) {
  return {name, [options](const std::vector<torch::Tensor>& parameters) {
            return std::make_unique<Optimizer>(parameters, options);
          }};
}

class EveryOptimizer : public ::testing::TestWithParam<BroadcastCase> {
 protected:
  /// Makes this many steps on different data per rank, broadcasts, and expects equal steps from
  /// then on.
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
TEST_P(EveryOptimizer, DiscardsStateThatTheRootDoesNotHave) {
  expectStepsInUnison(0, 2);
}

TEST(BroadcastOptimizerState, GivesEveryRankTheRootsOptions) {
  runRanks(2, [](Communicator& world) {
    torch::nn::Linear model = makeModel(1);
    torch::optim::SGD optimizer(model->parameters(),
                                torch::optim::SGDOptions(world.isRoot() ? 0.1 : 0.2));
    broadcastOptimizerState(optimizer, world);
    EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.1);
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
                "broadcastOptimizerState: rank 2 has a different optimizer from rank 0: got an "
                "optimizer of type torch::optim::Adam; expected an optimizer of type "
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
    expectError(ErrorCode::kRankMismatch, "got group 1 of 1 parameters; expected nothing",
                [&] { broadcastOptimizerState(*optimizer, world); });
  });
}

TEST(BroadcastOptimizerState, ReportsOnEveryRankThatAnOptimizerCannotBeSaved) {
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

}  // namespace
}  // namespace steptape
