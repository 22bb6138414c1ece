// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

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
using torch::optim::Optimizer;

// Compares step() with the optimizer of one process that sees all ranks' samples.

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(std::vector<at::Tensor>)>;
struct OptimizerCase {
  const char* name;
  MakeOptimizer make;
};
void PrintTo(const OptimizerCase& optimizer, std::ostream* out) {
  *out << optimizer.name;
}

template <typename OptimizerType, typename Options>
MakeOptimizer making(Options options) {
  return [options](std::vector<at::Tensor> parameters) -> std::unique_ptr<Optimizer> {
    return std::make_unique<OptimizerType>(std::move(parameters), options);
  };
}

std::vector<OptimizerCase> optimizerCases() {
  using torch::optim::Adagrad;
  using torch::optim::AdagradOptions;
  using torch::optim::Adam;
  using torch::optim::AdamOptions;
  using torch::optim::AdamW;
  using torch::optim::AdamWOptions;
  using torch::optim::SGD;
  using torch::optim::SGDOptions;
  return {
      {"Sgd", making<SGD>(SGDOptions(0.1))},
      {"SgdWeightDecay", making<SGD>(SGDOptions(0.1).weight_decay(0.1))},
      {"SgdMomentum", making<SGD>(SGDOptions(0.1).momentum(0.9))},
      {"SgdDampening", making<SGD>(SGDOptions(0.1).momentum(0.9).dampening(0.3))},
      {"SgdNesterov", making<SGD>(SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.1))},
      {"Adam", making<Adam>(AdamOptions(0.01))},
      {"AdamWeightDecay", making<Adam>(AdamOptions(0.01).weight_decay(0.1))},
      // The average of the squares decreases within a few steps, so that its maximum differs from
      // it.
      {"AdamAmsgrad", making<Adam>(AdamOptions(0.01).betas({0.9, 0.5}).amsgrad(true))},
      {"AdamW", making<AdamW>(AdamWOptions(0.01).weight_decay(0.1))},
      {"AdamWAmsgrad", making<AdamW>(AdamWOptions(0.01).betas({0.9, 0.5}).amsgrad(true))},
      {"Adagrad", making<Adagrad>(AdagradOptions(0.05))},
  };
}

class GradientSyncStep : public ::testing::TestWithParam<OptimizerCase> {
 protected:
  static void train(SeededNet net, Optimizer& optimizer, int ranks, int from, int to) {
    for (int step = from; step < to; ++step) {
      optimizer.zero_grad();
      lossOf(net, batchOfAll(ranks, step)).backward();
      optimizer.step();
    }
  }
  static void train(SeededNet net, Optimizer& optimizer, GradientSync& sync, Communicator& world,
                    int from, int to) {
    for (int step = from; step < to; ++step) {
      optimizer.zero_grad();
      lossOf(net, batchOf(world.rank(), step)).backward();
      EXPECT_TRUE(sync.step(optimizer));
    }
  }
  std::unique_ptr<Optimizer> makeFor(const SeededNet& net) const {
    return GetParam().make(net->parameters());
  }
};
INSTANTIATE_TEST_SUITE_P(Optimizers, GradientSyncStep, ::testing::ValuesIn(optimizerCases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(GradientSyncStep, TrainsAsOneProcessDoes) {
  for (const int ranks : {1, 2, 3, 7}) {
    SeededNet single(1);
    const auto singleOptimizer = makeFor(single);
    train(single, *singleOptimizer, ranks, 0, 8);
    runRanksShared(ranks, [&](const World& world) {
      SeededNet net(1);
      const auto optimizer = makeFor(net);
      GradientSync sync(net->named_parameters(), world);
      train(net, *optimizer, sync, *world, 0, 8);
      expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
      EXPECT_NO_THROW(checkParametersAreEqual(*net, *world));
    });
  }
}

TEST_P(GradientSyncStep, ContinuesWithLoadedParametersAndState) {
  // One process trains, saves, and continues; two ranks have trained something else, load, and
  // continue.
  SeededNet single(1);
  const auto singleOptimizer = makeFor(single);
  train(single, *singleOptimizer, 2, 0, 3);
  std::stringstream savedModel;
  std::stringstream savedOptimizer;
  torch::save(single, savedModel);
  torch::save(*singleOptimizer, savedOptimizer);
  train(single, *singleOptimizer, 2, 3, 6);

  runRanksShared(2, [&](const World& world) {
    SeededNet net(5);
    const auto optimizer = makeFor(net);
    GradientSync sync(net->named_parameters(), world);
    train(net, *optimizer, sync, *world, 0, 2);
    world->barrier();
    std::istringstream model(savedModel.str());
    std::istringstream state(savedOptimizer.str());
    torch::load(net, model);
    torch::load(*optimizer, state);
    train(net, *optimizer, sync, *world, 3, 6);
    expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST_P(GradientSyncStep, ContinuesWithALoadedStateWithoutParameters) {
  SeededNet other(5);
  const auto otherOptimizer = makeFor(other);
  train(other, *otherOptimizer, 2, 0, 2);
  std::stringstream saved;
  torch::save(*otherOptimizer, saved);
  const auto load = [&saved](Optimizer& optimizer) {
    std::istringstream state(saved.str());
    torch::load(optimizer, state);
  };

  SeededNet single(1);
  const auto singleOptimizer = makeFor(single);
  train(single, *singleOptimizer, 2, 0, 3);
  load(*singleOptimizer);
  train(single, *singleOptimizer, 2, 3, 6);

  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    const auto optimizer = makeFor(net);
    GradientSync sync(net->named_parameters(), world);
    train(net, *optimizer, sync, *world, 0, 3);
    world->barrier();
    load(*optimizer);
    train(net, *optimizer, sync, *world, 3, 6);
    expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST_P(GradientSyncStep, LeavesAnOptimizerThatCanBeSavedAndUsedAlone) {
  SeededNet single(1);
  const auto singleOptimizer = makeFor(single);
  train(single, *singleOptimizer, 2, 0, 3);
  const std::vector<at::Tensor> after3 = copiesOf(single->parameters());
  train(single, *singleOptimizer, 2, 3, 5);

  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    const auto optimizer = makeFor(net);
    {
      GradientSync sync(net->named_parameters(), world);
      train(net, *optimizer, sync, *world, 0, 3);
    }
    expectAllClose(copiesOf(net->parameters()), after3, 1e-5);
    // Both ranks continue separately: each has its own parameters and state again.
    train(net, *optimizer, 2, 3, 5);
    expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST_P(GradientSyncStep, ClipsTheAverage) {
  SeededNet single(1);
  const auto singleOptimizer = makeFor(single);
  for (int step = 0; step < 4; ++step) {
    singleOptimizer->zero_grad();
    lossOf(single, batchOfAll(2, step)).backward();
    torch::nn::utils::clip_grad_norm_(single->parameters(), 0.05);
    singleOptimizer->step();
  }
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    const auto optimizer = makeFor(net);
    GradientSyncOptions options;
    options.maxNorm = 0.05;
    GradientSync sync(net->named_parameters(), world, options);
    train(net, *optimizer, sync, *world, 0, 4);
    expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
    EXPECT_GT(sync.gradientNorm(), 0.05);
  });
}

TEST_P(GradientSyncStep, SkipsAParameterThatNoRankUsed) {
  const auto lossWithoutFirst = [](SeededNet net, const at::Tensor& samples) {
    return net->second->forward(torch::cat({samples, samples}, 1).slice(1, 0, 5)).pow(2).mean();
  };
  const auto loss = [&](SeededNet net, const at::Tensor& samples, int step) {
    return step % 2 == 0 ? lossWithoutFirst(net, samples) : lossOf(net, samples);
  };
  SeededNet single(1);
  const auto singleOptimizer = makeFor(single);
  for (int step = 0; step < 5; ++step) {
    single->zero_grad(true);
    loss(single, batchOfAll(2, step), step).backward();
    singleOptimizer->step();
  }
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    const auto optimizer = makeFor(net);
    GradientSync sync(net->named_parameters(), world);
    for (int step = 0; step < 5; ++step) {
      net->zero_grad(true);
      loss(net, batchOf(world->rank(), step), step).backward();
      sync.step(*optimizer);
    }
    expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST_P(GradientSyncStep, FollowsALearningRateThatChanges) {
  const auto halve = [](Optimizer& optimizer) {
    auto& options = optimizer.param_groups().front().options();
    options.set_lr(options.get_lr() / 2);
  };
  SeededNet single(1);
  const auto singleOptimizer = makeFor(single);
  train(single, *singleOptimizer, 2, 0, 2);
  halve(*singleOptimizer);
  train(single, *singleOptimizer, 2, 2, 4);
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    const auto optimizer = makeFor(net);
    GradientSync sync(net->named_parameters(), world);
    train(net, *optimizer, sync, *world, 0, 2);
    halve(*optimizer);
    train(net, *optimizer, sync, *world, 2, 4);
    expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST(GradientSync, SupportsParameterGroupsWithDifferentOptions) {
  const auto groupsOf = [](const SeededNet& net) {
    std::vector<torch::optim::OptimizerParamGroup> groups;
    groups.emplace_back(net->first->parameters(), std::make_unique<torch::optim::SGDOptions>(
                                                      torch::optim::SGDOptions(0.2).momentum(0.5)));
    groups.emplace_back(net->second->parameters(),
                        std::make_unique<torch::optim::SGDOptions>(torch::optim::SGDOptions(0.01)));
    return groups;
  };
  SeededNet single(1);
  torch::optim::SGD singleOptimizer(groupsOf(single), torch::optim::SGDOptions(0.1));
  for (int step = 0; step < 4; ++step) {
    singleOptimizer.zero_grad();
    lossOf(single, batchOfAll(2, step)).backward();
    singleOptimizer.step();
  }
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(groupsOf(net), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    for (int step = 0; step < 4; ++step) {
      optimizer.zero_grad();
      lossOf(net, batchOf(world->rank(), step)).backward();
      sync.step(optimizer);
    }
    expectAllClose(copiesOf(net->parameters()), single->parameters());
    EXPECT_THAT(sync.describe(), HasSubstr("parameters shared"));
  });
}

TEST(GradientSync, ServesAnOptimizerOfSomeOfTheParameters) {
  SeededNet single(1);
  torch::optim::SGD singleOptimizer(single->second->parameters(), torch::optim::SGDOptions(0.1));
  lossOf(single, batchOfAll(2)).backward();
  singleOptimizer.step();
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(net->second->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    lossOf(net, batchOf(world->rank())).backward();
    sync.step(optimizer);
    expectAllClose(copiesOf(net->parameters()), single->parameters());
  });
}

TEST(GradientSync, LeavesParametersThatItWasNotGivenToTheirRank) {
  const auto optimizerFor = [](const SeededNet& net) {
    return torch::optim::SGD(net->parameters(), torch::optim::SGDOptions(0.1));
  };
  const auto stepAlone = [&](const at::Tensor& samples) {
    SeededNet net(1);
    torch::optim::SGD optimizer = optimizerFor(net);
    lossOf(net, samples).backward();
    optimizer.step();
    return net;
  };
  const SeededNet together = stepAlone(batchOfAll(2));
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer = optimizerFor(net);
    GradientSync sync(net->second->named_parameters(), world);
    lossOf(net, batchOf(world->rank())).backward();
    sync.step(optimizer);
    const SeededNet alone = stepAlone(batchOf(world->rank()));
    expectAllClose(copiesOf(net->second->parameters()), together->second->parameters());
    expectAllClose(copiesOf(net->first->parameters()), alone->first->parameters());
  });
}

TEST(GradientSync, RestartsWhenTheStateIsCleared) {
  const auto adamFor = [](const SeededNet& net) {
    return torch::optim::Adam(net->parameters(), torch::optim::AdamOptions(0.01).amsgrad(true));
  };
  const auto clearAtThree = [](int step, torch::optim::Adam& optimizer) {
    if (step == 3) {
      optimizer.state().clear();
    }
  };
  SeededNet single(1);
  torch::optim::Adam singleOptimizer = adamFor(single);
  for (int step = 0; step < 5; ++step) {
    clearAtThree(step, singleOptimizer);
    singleOptimizer.zero_grad();
    lossOf(single, batchOfAll(2, step)).backward();
    singleOptimizer.step();
  }
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::Adam optimizer = adamFor(net);
    GradientSync sync(net->named_parameters(), world);
    for (int step = 0; step < 5; ++step) {
      clearAtThree(step, optimizer);
      optimizer.zero_grad();
      lossOf(net, batchOf(world->rank(), step)).backward();
      sync.step(optimizer);
    }
    expectAllClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

}  // namespace
}  // namespace steptape
