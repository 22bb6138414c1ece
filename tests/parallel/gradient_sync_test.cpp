// SPDX-License-Identifier: Apache-2.0
#include "steptape/parallel/gradient_sync.h"

#include <cmath>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/parallel/broadcast.h"
#include "steptape/testing/thread_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using testing::runRanksShared;
using World = std::shared_ptr<Communicator>;
using torch::optim::Optimizer;

constexpr std::int64_t kBatch = 4;

/// Two layers whose weights a seed decides.
struct SeededNetImpl : torch::nn::Module {
  explicit SeededNetImpl(double seed, std::int64_t inputs = 3) {
    const torch::NoGradGuard noGradients;
    first = register_module("first", torch::nn::Linear(inputs, 5));
    second = register_module("second", torch::nn::Linear(5, 2));
    double next = seed;
    for (at::Tensor& parameter : parameters()) {
      parameter.copy_(torch::sin(torch::arange(parameter.numel()) * 0.7 + next)
                          .view(parameter.sizes())
                          .to(torch::kFloat));
      next += 1;
    }
  }
  at::Tensor forward(const at::Tensor& x) { return second(torch::tanh(first(x))); }

  torch::nn::Linear first = nullptr;
  torch::nn::Linear second = nullptr;
};
TORCH_MODULE(SeededNet);

/// Samples of `rank` at `step`; those of all ranks together are what one process sees.
at::Tensor samplesOf(std::int64_t rank, std::int64_t step = 0) {
  return torch::cos(torch::arange(kBatch * 3).to(torch::kFloat) * 0.3 +
                    static_cast<double>(rank * 7 + step))
      .view({kBatch, 3});
}

at::Tensor samplesOfAll(int ranks, std::int64_t step = 0) {
  std::vector<at::Tensor> samples;
  for (int rank = 0; rank < ranks; ++rank) {
    samples.push_back(samplesOf(rank, step));
  }
  return torch::cat(samples);
}

at::Tensor lossOf(SeededNet net, const at::Tensor& samples) {
  return net->forward(samples).pow(2).mean();
}

std::vector<at::Tensor> copiesOf(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(tensor.detach().clone());
  }
  return copies;
}

std::vector<at::Tensor> gradientsOf(const SeededNet& net) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : net->parameters()) {
    gradients.push_back(parameter.grad().detach().clone());
  }
  return gradients;
}

void expectClose(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& wanted,
                 double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(torch::allclose(got[i], wanted[i], 1e-5, tolerance)) << "tensor " << i << ": got\n"
                                                                     << got[i] << "\nwanted\n"
                                                                     << wanted[i];
  }
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

/// Both ways in which gradients travel.
struct Path {
  const char* name;
  bool sharedMemory;
};
void PrintTo(const Path& path, std::ostream* out) {
  *out << path.name;
}

GradientSyncOptions optionsFor(const Path& path) {
  GradientSyncOptions options;
  options.useSharedMemory = path.sharedMemory;
  return options;
}

class GradientSyncOnRanks : public ::testing::TestWithParam<std::tuple<int, Path>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  GradientSyncOptions options() const { return optionsFor(std::get<1>(GetParam())); }

  /// Runs `body` on every rank.
  void run(const std::function<void(const World&)>& body) const { runRanksShared(ranks(), body); }
};
INSTANTIATE_TEST_SUITE_P(All, GradientSyncOnRanks,
                         ::testing::Combine(::testing::Values(1, 2, 3, 7),
                                            ::testing::Values(Path{"SharedMemory", true},
                                                              Path{"Messages", false})),
                         [](const auto& test) {
                           return std::string(std::get<1>(test.param).name) +
                                  std::to_string(std::get<0>(test.param)) + "Ranks";
                         });

TEST_P(GradientSyncOnRanks, GivesTheGradientOfOneLargeBatch) {
  SeededNet single(1);
  lossOf(single, samplesOfAll(ranks())).backward();
  run([&](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world, options());
    for (int repeat = 0; repeat < 3; ++repeat) {
      net->zero_grad();
      lossOf(net, samplesOf(world->rank())).backward();
      EXPECT_TRUE(sync.synchronize());
      expectClose(gradientsOf(net), gradientsOf(single));
    }
  });
}

TEST_P(GradientSyncOnRanks, GivesTheSameBitsOnEveryRank) {
  run([&](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world, options());
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.5));
    for (int step = 0; step < 20; ++step) {
      optimizer.zero_grad();
      lossOf(net, samplesOf(world->rank(), step)).backward();
      sync.synchronize();
      optimizer.step();
    }
    EXPECT_NO_THROW(checkParametersAreEqual(*net, *world));
  });
}

TEST_P(GradientSyncOnRanks, KeepsTheAverageWithinTheLargestNorm) {
  SeededNet single(1);
  lossOf(single, samplesOfAll(ranks())).backward();
  const double norm = torch::nn::utils::clip_grad_norm_(single->parameters(), 0.01);
  run([&](const World& world) {
    SeededNet net(1);
    GradientSyncOptions clipped = options();
    clipped.maxNorm = 0.01;
    GradientSync sync(net->named_parameters(), world, clipped);
    lossOf(net, samplesOf(world->rank())).backward();
    sync.synchronize();
    EXPECT_NEAR(sync.gradientNorm(), norm, 1e-6);
    expectClose(gradientsOf(net), gradientsOf(single));
  });
}

TEST_P(GradientSyncOnRanks, AddsUpSeveralPassesBeforeItExchanges) {
  SeededNet single(1);
  lossOf(single, torch::cat({samplesOfAll(ranks(), 0), samplesOfAll(ranks(), 1)})).backward();
  run([&](const World& world) {
    SeededNet net(1);
    GradientSyncOptions accumulating = options();
    accumulating.accumulationSteps = 2;
    GradientSync sync(net->named_parameters(), world, accumulating);
    for (int repeat = 0; repeat < 2; ++repeat) {
      net->zero_grad();
      lossOf(net, samplesOf(world->rank(), 0)).backward();
      EXPECT_FALSE(sync.synchronize());
      lossOf(net, samplesOf(world->rank(), 1)).backward();
      EXPECT_TRUE(sync.synchronize());
      expectClose(gradientsOf(net), gradientsOf(single));
    }
  });
}

TEST_P(GradientSyncOnRanks, LeavesTheGradientsAloneWhileThereIsANoSync) {
  run([&](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world, options());
    for (int repeat = 0; repeat < 2; ++repeat) {
      net->zero_grad();
      {
        const GradientSync::NoSync noSync = sync.noSync();
        lossOf(net, samplesOf(world->rank())).backward();
        const std::vector<at::Tensor> own = gradientsOf(net);
        EXPECT_FALSE(sync.synchronize());
        expectClose(gradientsOf(net), own, 0);
      }
      lossOf(net, samplesOf(world->rank())).backward();
      EXPECT_TRUE(sync.synchronize());
    }
    SeededNet single(1);
    lossOf(single, samplesOfAll(world->size())).backward();
    lossOf(single, samplesOfAll(world->size())).backward();
    expectClose(gradientsOf(net), gradientsOf(single));
  });
}

TEST_P(GradientSyncOnRanks, CountsARankWithoutAGradientAsZeros) {
  run([&](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world, options());
    for (int repeat = 0; repeat < 2; ++repeat) {
      net->zero_grad(true);
      if (world->isRoot()) {
        net->second->bias.sum().backward();
      }
      sync.synchronize();
      EXPECT_TRUE(torch::allclose(net->second->bias.grad(),
                                  torch::full({2}, 1.0 / world->size(), torch::kFloat)));
    }
  });
}

TEST_P(GradientSyncOnRanks, LeavesAGradientUndefinedThatNoRankHas) {
  run([&](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world, options());
    for (int repeat = 0; repeat < 2; ++repeat) {
      net->zero_grad(true);
      net->second->bias.sum().backward();
      sync.synchronize();
      EXPECT_FALSE(net->first->weight.grad().defined());
      EXPECT_TRUE(net->second->bias.grad().defined());
    }
  });
}

TEST_P(GradientSyncOnRanks, AveragesOverTheRanksThatStillHaveData) {
  // Rank r has r + 1 batches.
  run([&](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world, options());
    int steps = 0;
    while (sync.join(steps <= world->rank())) {
      net->zero_grad(true);
      if (steps <= world->rank()) {
        lossOf(net, samplesOf(world->rank())).backward();
      }
      sync.synchronize();
      SeededNet single(1);
      std::vector<at::Tensor> left;
      for (int rank = steps; rank < world->size(); ++rank) {
        left.push_back(samplesOf(rank));
      }
      lossOf(single, torch::cat(left)).backward();
      expectClose(gradientsOf(net), gradientsOf(single));
      ++steps;
    }
    EXPECT_EQ(steps, world->size());
  });
}

TEST_P(GradientSyncOnRanks, AveragesDoublesBesideFloats) {
  run([&](const World& world) {
    torch::OrderedDict<std::string, at::Tensor> parameters;
    parameters.insert("a", torch::ones({2}, torch::kDouble).requires_grad_());
    parameters.insert("b", torch::ones({2}).requires_grad_());
    GradientSync sync(parameters, world, options());
    ((parameters["a"].sum() + parameters["b"].sum()) * world->rank()).backward();
    sync.synchronize();
    const double average = (world->size() - 1) / 2.0;
    EXPECT_TRUE(torch::equal(parameters["a"].grad(), torch::full({2}, average, torch::kDouble)));
    EXPECT_TRUE(torch::allclose(parameters["b"].grad(), torch::full({2}, average, torch::kFloat)));
  });
}

TEST_P(GradientSyncOnRanks, AveragesGradientsOfChannelsLastWeights) {
  run([&](const World& world) {
    torch::manual_seed(3);
    torch::nn::Conv2d conv(torch::nn::Conv2dOptions(3, 4, 2));
    conv->to(torch::kFloat);
    {
      const torch::NoGradGuard noGradients;
      conv->weight.set_data(conv->weight.contiguous(at::MemoryFormat::ChannelsLast));
    }
    GradientSync sync(conv->named_parameters(), world, options());
    const at::Tensor image = torch::arange(27).to(torch::kFloat).view({1, 3, 3, 3});
    (conv->forward(image).sum() * (world->rank() + 1)).backward();
    const at::Tensor own = conv->weight.grad().clone();
    sync.synchronize();
    const double average = (world->size() + 1) / 2.0 / (world->rank() + 1);
    EXPECT_TRUE(torch::allclose(conv->weight.grad(), own * average));
  });
}

TEST_P(GradientSyncOnRanks, CopiesIntoTheGradientsOfTheCallerIfTold) {
  run([&](const World& world) {
    SeededNet net(1);
    GradientSyncOptions copying = options();
    copying.gradientAsBucketView = false;
    GradientSync sync(net->named_parameters(), world, copying);
    lossOf(net, samplesOf(world->rank())).backward();
    const void* memory = net->first->weight.grad().data_ptr();
    sync.synchronize();
    EXPECT_EQ(net->first->weight.grad().data_ptr(), memory);
    SeededNet single(1);
    lossOf(single, samplesOfAll(world->size())).backward();
    expectClose(gradientsOf(net), gradientsOf(single));
  });
}

TEST_P(GradientSyncOnRanks, MakesSparseGradientsOfEmbeddingsTheSumOfAllRanks) {
  for (const SparseGradients way : {SparseGradients::kGather, SparseGradients::kDensify}) {
    run([&](const World& world) {
      torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(6, 2).sparse(true));
      GradientSyncOptions sparse = options();
      sparse.sparse = way;
      GradientSync sync(embedding->named_parameters(), world, sparse);
      for (int repeat = 0; repeat < 2; ++repeat) {
        embedding->zero_grad(true);
        const std::int64_t row = world->rank() % 6;
        embedding->forward(torch::tensor({row, std::int64_t{5}})).sum().backward();
        sync.synchronize();
        at::Tensor got = embedding->weight.grad();
        got = got.is_sparse() ? got.to_dense() : got;
        at::Tensor wanted = torch::zeros({6, 2});
        for (int rank = 0; rank < world->size(); ++rank) {
          wanted[rank % 6] += 1.0 / world->size();
          wanted[5] += 1.0 / world->size();
        }
        EXPECT_TRUE(torch::allclose(got, wanted)) << got;
      }
    });
  }
}

TEST_P(GradientSyncOnRanks, CountsSparseGradientsInTheNorm) {
  for (const SparseGradients way : {SparseGradients::kGather, SparseGradients::kDensify}) {
    run([&](const World& world) {
      torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(6, 2).sparse(true));
      GradientSyncOptions sparse = options();
      sparse.sparse = way;
      sparse.maxNorm = 0.5;
      GradientSync sync(embedding->named_parameters(), world, sparse);
      embedding->forward(torch::tensor({1, 1, 2})).sum().backward();
      sync.synchronize();
      EXPECT_NEAR(sync.gradientNorm(), std::sqrt(10.0), 1e-5);
      const at::Tensor gradient = embedding->weight.grad();
      EXPECT_NEAR(gradient.norm().item<double>(), 0.5, 1e-5);
    });
  }
}

// step() against the optimizer of one process that sees all ranks' samples.

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
      // The average of the squares falls within a few steps, so that its maximum is another number.
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
      lossOf(net, samplesOfAll(ranks, step)).backward();
      optimizer.step();
    }
  }
  static void train(SeededNet net, Optimizer& optimizer, GradientSync& sync, Communicator& world,
                    int from, int to) {
    for (int step = from; step < to; ++step) {
      optimizer.zero_grad();
      lossOf(net, samplesOf(world.rank(), step)).backward();
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
      expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
      EXPECT_NO_THROW(checkParametersAreEqual(*net, *world));
    });
  }
}

TEST_P(GradientSyncStep, GoesOnWithWhatWasLoadedInto) {
  // One process trains, saves, and goes on; two ranks have trained something else, load, and go on.
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
    expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST_P(GradientSyncStep, GoesOnWithAStateThatWasLoadedWithoutTheParameters) {
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
    expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST_P(GradientSyncStep, LeavesAnOptimizerThatCanBeSavedAndGoesOnAlone) {
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
    expectClose(copiesOf(net->parameters()), after3, 1e-5);
    // Both ranks go on by themselves: each has parameters and state of its own again.
    train(net, *optimizer, 2, 3, 5);
    expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST_P(GradientSyncStep, ClipsTheAverage) {
  SeededNet single(1);
  const auto singleOptimizer = makeFor(single);
  for (int step = 0; step < 4; ++step) {
    singleOptimizer->zero_grad();
    lossOf(single, samplesOfAll(2, step)).backward();
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
    expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
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
    loss(single, samplesOfAll(2, step), step).backward();
    singleOptimizer->step();
  }
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    const auto optimizer = makeFor(net);
    GradientSync sync(net->named_parameters(), world);
    for (int step = 0; step < 5; ++step) {
      net->zero_grad(true);
      loss(net, samplesOf(world->rank(), step), step).backward();
      sync.step(*optimizer);
    }
    expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
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
    expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST(GradientSync, ServesParameterGroupsWithOptionsOfTheirOwn) {
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
    lossOf(single, samplesOfAll(2, step)).backward();
    singleOptimizer.step();
  }
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(groupsOf(net), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    for (int step = 0; step < 4; ++step) {
      optimizer.zero_grad();
      lossOf(net, samplesOf(world->rank(), step)).backward();
      sync.step(optimizer);
    }
    expectClose(copiesOf(net->parameters()), single->parameters());
    EXPECT_THAT(sync.describe(), HasSubstr("parameters shared"));
  });
}

TEST(GradientSync, ServesAnOptimizerOfSomeOfTheParameters) {
  SeededNet single(1);
  torch::optim::SGD singleOptimizer(single->second->parameters(), torch::optim::SGDOptions(0.1));
  lossOf(single, samplesOfAll(2)).backward();
  singleOptimizer.step();
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(net->second->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    lossOf(net, samplesOf(world->rank())).backward();
    sync.step(optimizer);
    expectClose(copiesOf(net->parameters()), single->parameters());
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
  const SeededNet together = stepAlone(samplesOfAll(2));
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer = optimizerFor(net);
    GradientSync sync(net->second->named_parameters(), world);
    lossOf(net, samplesOf(world->rank())).backward();
    sync.step(optimizer);
    const SeededNet alone = stepAlone(samplesOf(world->rank()));
    expectClose(copiesOf(net->second->parameters()), together->second->parameters());
    expectClose(copiesOf(net->first->parameters()), alone->first->parameters());
  });
}

TEST(GradientSync, StartsAfreshWhenTheStateIsCleared) {
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
    lossOf(single, samplesOfAll(2, step)).backward();
    singleOptimizer.step();
  }
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::Adam optimizer = adamFor(net);
    GradientSync sync(net->named_parameters(), world);
    for (int step = 0; step < 5; ++step) {
      clearAtThree(step, optimizer);
      optimizer.zero_grad();
      lossOf(net, samplesOf(world->rank(), step)).backward();
      sync.step(optimizer);
    }
    expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
  });
}

TEST(GradientSync, PutsParametersOfAllRanksOfANodeIntoOneMemory) {
  std::vector<SeededNet> nets(2, nullptr);
  runRanksShared(2, [&](const World& world) {
    SeededNet& net = nets[static_cast<std::size_t>(world->rank())];
    net = SeededNet(1);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    lossOf(net, samplesOf(world->rank())).backward();
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
    lossOf(single, samplesOfAll(2, step)).backward();
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
        lossOf(net, samplesOf(world->rank(), step)).backward();
        sync.step(optimizer);
      }
      expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
    });
  }
}

TEST(GradientSync, KeepsTheAveragesAfterAStepIfTold) {
  SeededNet single(1);
  lossOf(single, samplesOfAll(2)).backward();
  const std::vector<at::Tensor> wanted = gradientsOf(single);
  torch::optim::SGD singleOptimizer(single->parameters(), torch::optim::SGDOptions(0.1));
  singleOptimizer.step();
  runRanksShared(2, [&](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    sync.setKeepGradients(true);
    lossOf(net, samplesOf(world->rank())).backward();
    sync.step(optimizer);
    expectClose(gradientsOf(net), wanted);
    expectClose(copiesOf(net->parameters()), single->parameters());
  });
}

TEST(GradientSync, ExchangesBetweenNodesThroughTheirFirstRanks) {
  for (const int ranks : {4, 6}) {
    SeededNet single(1);
    torch::optim::Adam singleOptimizer(single->parameters(), torch::optim::AdamOptions(0.01));
    for (int step = 0; step < 4; ++step) {
      singleOptimizer.zero_grad();
      lossOf(single, samplesOfAll(ranks, step)).backward();
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
            lossOf(net, samplesOf(world->rank(), step)).backward();
            sync.step(optimizer);
          }
          expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
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
                    : lossOf(net, samplesOf(rank));
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
        expectClose(copiesOf(net->parameters()), single->parameters(), 1e-5);
      },
      two);
}

TEST(GradientSync, ClipsToTheSameBitsOnRanksWithOtherNumbersOfThreads) {
  runRanksShared(2, [](const World& world) {
    const int threads = at::get_num_threads();
    at::set_num_threads(world->rank() + 1);
    const at::Tensor weight = torch::zeros({1 << 20}).requires_grad_();
    torch::OrderedDict<std::string, at::Tensor> parameters;
    parameters.insert("weight", weight);
    GradientSyncOptions options;
    options.maxNorm = 0.1;
    options.useSharedMemory = false;
    GradientSync sync(parameters, world, options);
    const at::Tensor numbers = torch::arange(1 << 20).sin();
    for (int step = 1; step <= 8; ++step) {
      weight.mutable_grad().reset();
      (weight * (numbers * step).cos()).sum().backward();
      sync.synchronize();
      const at::Tensor gradient = weight.grad().contiguous();
      const std::vector<std::string> all =
          world->allgather({static_cast<const char*>(gradient.data_ptr()), gradient.nbytes()});
      EXPECT_TRUE(all[0] == all[1]) << "step " << step;
    }
    at::set_num_threads(threads);
  });
}

TEST(GradientSync, CombinesByAdasumWhereTheRanksShareMemory) {
  runRanksShared(2, [](const World& world) {
    const at::Tensor weight = torch::zeros({2}).requires_grad_();
    torch::OrderedDict<std::string, at::Tensor> parameters;
    parameters.insert("weight", weight);
    GradientSyncOptions options;
    options.reduction = GradientReduction::kAdasum;
    GradientSync sync(parameters, world, options);
    weight[world->rank()].backward();
    sync.synchronize();
    expectClose({weight.grad()}, {torch::ones({2})});  // Of orthogonal gradients it is the sum.
  });
}

TEST(GradientSync, SendsSixteenBitsBetweenNodesIfTold) {
  testing::RunRanksOptions two;
  two.ranksPerNode = 2;
  for (const Compression compression : {Compression::kFp16, Compression::kBf16}) {
    runRanksShared(
        4,
        [&](const World& world) {
          // A third needs more than the 24 bits of float32; four times 60000 is beyond float16.
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

TEST(GradientSync, AcceptsGradientsThatAreZeroedInPlace) {
  runRanksShared(2, [](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world);
    net->second->bias.sum().backward();
    sync.synchronize();
    const void* bucket = net->second->bias.grad().data_ptr();
    net->second->bias.mutable_grad().detach_();
    net->second->bias.mutable_grad().zero_();
    net->second->bias.sum().backward();
    sync.synchronize();
    EXPECT_TRUE(torch::equal(net->second->bias.grad(), torch::ones({2})));
    EXPECT_EQ(net->second->bias.grad().data_ptr(), bucket) << "the gradient was copied";
  });
}

TEST(GradientSync, RefusesToSynchronizeWhatStepHasTakenOver) {
  runRanksShared(2, [](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    lossOf(net, samplesOf(world->rank())).backward();
    sync.step(optimizer);
    expectError(ErrorCode::kFailedPrecondition, "synchronize() after step()",
                [&] { sync.synchronize(); });
  });
}

TEST(GradientSync, RefusesASecondOptimizer) {
  runRanksShared(2, [](const World& world) {
    SeededNet net(1);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
    torch::optim::SGD other(net->parameters(), torch::optim::SGDOptions(0.1));
    GradientSync sync(net->named_parameters(), world);
    lossOf(net, samplesOf(world->rank())).backward();
    sync.step(optimizer);
    expectError(ErrorCode::kInvalidArgument, "got another optimizer than before",
                [&] { sync.step(other); });
  });
}

TEST(GradientSync, TellsEveryRankWhoseOptimizerDiffers) {
  for (const bool useSharedMemory : {true, false}) {
    runRanksShared(2, [&](const World& world) {
      SeededNet net(1);
      torch::optim::SGD optimizer(net->parameters(),
                                  torch::optim::SGDOptions(world->isRoot() ? 0.5 : 0.25));
      GradientSyncOptions options;
      options.useSharedMemory = useSharedMemory;
      GradientSync sync(net->named_parameters(), world, options);
      lossOf(net, samplesOf(world->rank())).backward();
      expectError(ErrorCode::kRankMismatch,
                  "GradientSync: rank 1 has another optimizer than rank 0: got group 0 lr = 0.25, "
                  "wanted group 0 lr = 0.5",
                  [&] { sync.step(optimizer); });
    });
  }
}

TEST(GradientSync, RejectsIntegers) {
  torch::OrderedDict<std::string, at::Tensor> parameters;
  parameters.insert("phase", torch::ones({2}, torch::kComplexFloat).requires_grad_());
  expectError(ErrorCode::kInvalidArgument,
              "cannot average the gradient of phase, which is ComplexFloat; wanted Float, Double, "
              "Half or BFloat16",
              [&] { GradientSync(parameters, std::make_shared<Communicator>()); });
}

TEST(GradientSync, RejectsAParameterThatIsGivenTwice) {
  torch::OrderedDict<std::string, at::Tensor> parameters;
  const at::Tensor tensor = torch::ones({2}).requires_grad_();
  parameters.insert("a", tensor);
  parameters.insert("b", tensor);
  expectError(ErrorCode::kInvalidArgument, "got the parameter b twice",
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
  reject(options, "got bucketBytes = 0, wanted a positive number");
  options = {};
  options.accumulationSteps = -1;
  reject(options, "got accumulationSteps = -1, wanted a positive number");
  options = {};
  options.maxNorm = std::nan("");
  reject(options, "got maxNorm = nan, wanted a positive number, or 0 for none");
  options = {};
  options.predivideFactor = 0;
  reject(options, "got predivideFactor = 0");
}

TEST(GradientSync, TellsEveryRankWhichParameterDiffers) {
  runRanksShared(3, [](const World& world) {
    SeededNet net(1, world->rank() == 2 ? 4 : 3);
    expectError(
        ErrorCode::kRankMismatch,
        "GradientSync: rank 2 has another model than rank 0: got first.weight: Float [5, 4] "
        "with gradient, wanted first.weight: Float [5, 3] with gradient",
        [&] { GradientSync(net->named_parameters(), world); });
  });
}

TEST(GradientSync, TellsEveryRankWhichOptionDiffers) {
  runRanksShared(3, [](const World& world) {
    GradientSyncOptions options;
    options.accumulationSteps = world->rank() == 1 ? 4 : 2;
    expectError(ErrorCode::kRankMismatch,
                "GradientSync: rank 1 has another option than rank 0: got accumulationSteps = 4, "
                "wanted accumulationSteps = 2",
                [&] { GradientSync(SeededNet(1)->named_parameters(), world, options); });
  });
}

TEST(GradientSync, CountsWhatItDid) {
  runRanksShared(2, [](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world);
    for (int step = 0; step < 3; ++step) {
      lossOf(net, samplesOf(world->rank())).backward();
      sync.synchronize();
    }
    EXPECT_EQ(sync.stats().exchanges, 3);
    EXPECT_EQ(sync.stats().bytesPerExchange, (15 + 5 + 10 + 2) * 4);
    EXPECT_GE(sync.stats().waitSeconds, 0);
    EXPECT_GT(sync.stats().exchangeSeconds, 0);
  });
}

}  // namespace
}  // namespace steptape
