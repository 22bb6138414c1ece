// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "steptape/ranks/testing.h"
#include "steptape/train/gradient_sync.h"
#include "steptape/train/parameters.h"

#include "train/replicas/seeded_net.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using test::batchOf;
using test::batchOfAll;
using test::expectAllClose;
using test::gradientsOf;
using test::lossOf;
using test::SeededNet;
using test::World;
using testing::runRanksShared;

/// Both methods of exchanging gradients.
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
  lossOf(single, batchOfAll(ranks())).backward();
  run([&](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world, options());
    for (int repeat = 0; repeat < 3; ++repeat) {
      net->zero_grad();
      lossOf(net, batchOf(world->rank())).backward();
      EXPECT_TRUE(sync.synchronize());
      expectAllClose(gradientsOf(net), gradientsOf(single));
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
      lossOf(net, batchOf(world->rank(), step)).backward();
      sync.synchronize();
      optimizer.step();
    }
    EXPECT_NO_THROW(checkParametersAreEqual(*net, *world));
  });
}

TEST_P(GradientSyncOnRanks, KeepsTheAverageWithinTheLargestNorm) {
  SeededNet single(1);
  lossOf(single, batchOfAll(ranks())).backward();
  const double norm = torch::nn::utils::clip_grad_norm_(single->parameters(), 0.01);
  run([&](const World& world) {
    SeededNet net(1);
    GradientSyncOptions clipped = options();
    clipped.maxNorm = 0.01;
    GradientSync sync(net->named_parameters(), world, clipped);
    lossOf(net, batchOf(world->rank())).backward();
    sync.synchronize();
    EXPECT_NEAR(sync.gradientNorm(), norm, 1e-6);
    expectAllClose(gradientsOf(net), gradientsOf(single));
  });
}

TEST_P(GradientSyncOnRanks, AddsUpSeveralPassesBeforeItExchanges) {
  SeededNet single(1);
  lossOf(single, torch::cat({batchOfAll(ranks(), 0), batchOfAll(ranks(), 1)})).backward();
  run([&](const World& world) {
    SeededNet net(1);
    GradientSyncOptions accumulating = options();
    accumulating.accumulationSteps = 2;
    GradientSync sync(net->named_parameters(), world, accumulating);
    for (int repeat = 0; repeat < 2; ++repeat) {
      net->zero_grad();
      lossOf(net, batchOf(world->rank(), 0)).backward();
      EXPECT_FALSE(sync.synchronize());
      lossOf(net, batchOf(world->rank(), 1)).backward();
      EXPECT_TRUE(sync.synchronize());
      expectAllClose(gradientsOf(net), gradientsOf(single));
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
        lossOf(net, batchOf(world->rank())).backward();
        const std::vector<at::Tensor> own = gradientsOf(net);
        EXPECT_FALSE(sync.synchronize());
        expectAllClose(gradientsOf(net), own, 0);
      }
      lossOf(net, batchOf(world->rank())).backward();
      EXPECT_TRUE(sync.synchronize());
    }
    SeededNet single(1);
    lossOf(single, batchOfAll(world->size())).backward();
    lossOf(single, batchOfAll(world->size())).backward();
    expectAllClose(gradientsOf(net), gradientsOf(single));
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
        lossOf(net, batchOf(world->rank())).backward();
      }
      sync.synchronize();
      SeededNet single(1);
      std::vector<at::Tensor> left;
      for (int rank = steps; rank < world->size(); ++rank) {
        left.push_back(batchOf(rank));
      }
      lossOf(single, torch::cat(left)).backward();
      expectAllClose(gradientsOf(net), gradientsOf(single));
      ++steps;
    }
    EXPECT_EQ(steps, world->size());
  });
}

TEST_P(GradientSyncOnRanks, AveragesDoublesTogetherWithFloats) {
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

TEST_P(GradientSyncOnRanks, CopiesIntoTheCallersGradientsIfRequested) {
  run([&](const World& world) {
    SeededNet net(1);
    GradientSyncOptions copying = options();
    copying.gradientAsBucketView = false;
    GradientSync sync(net->named_parameters(), world, copying);
    lossOf(net, batchOf(world->rank())).backward();
    const void* memory = net->first->weight.grad().data_ptr();
    sync.synchronize();
    EXPECT_EQ(net->first->weight.grad().data_ptr(), memory);
    SeededNet single(1);
    lossOf(single, batchOfAll(world->size())).backward();
    expectAllClose(gradientsOf(net), gradientsOf(single));
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

TEST_P(GradientSyncOnRanks, CountsSparseAndDenseGradientsInOneNorm) {
  run([&](const World& world) {
    torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(6, 2).sparse(true));
    torch::OrderedDict<std::string, at::Tensor> parameters = embedding->named_parameters();
    parameters.insert("dense", torch::zeros({6}).requires_grad_());
    GradientSyncOptions clipped = options();
    clipped.maxNorm = 0.5;
    GradientSync sync(parameters, world, clipped);
    (embedding->forward(torch::tensor({1, 1, 2})).sum() + parameters["dense"].sum()).backward();
    sync.synchronize();
    EXPECT_NEAR(sync.gradientNorm(), 4, 1e-5);  // of 2, 2, 1, 1 and six times 1
    EXPECT_TRUE(torch::allclose(parameters["dense"].grad(), torch::full({6}, 0.125F)));
    EXPECT_TRUE(torch::allclose(embedding->weight.grad().to_dense()[1], torch::full({2}, 0.25F)));
  });
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

TEST(GradientSync, CombinesByAdasumIfTheRanksShareMemory) {
  runRanksShared(2, [](const World& world) {
    const at::Tensor weight = torch::zeros({2}).requires_grad_();
    torch::OrderedDict<std::string, at::Tensor> parameters;
    parameters.insert("weight", weight);
    GradientSyncOptions options;
    options.reduction = GradientReduction::kAdasum;
    GradientSync sync(parameters, world, options);
    weight[world->rank()].backward();
    sync.synchronize();
    expectAllClose({weight.grad()}, {torch::ones({2})});  // for orthogonal gradients, it is the sum
  });
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

TEST(GradientSync, CountsItsExchanges) {
  runRanksShared(2, [](const World& world) {
    SeededNet net(1);
    GradientSync sync(net->named_parameters(), world);
    for (int step = 0; step < 3; ++step) {
      lossOf(net, batchOf(world->rank())).backward();
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
