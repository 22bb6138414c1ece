// SPDX-License-Identifier: Apache-2.0
// What ranks exchange about tensors on devices. Ranks are threads, each with a device of its own.
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "steptape/ranks/testing.h"
#include "steptape/train/gradient_sync.h"
#include "steptape/train/parameters.h"
#include "steptape/train/sync_batch_norm.h"

#include "gpu/test_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

namespace steptape {
namespace {

using World = std::shared_ptr<Communicator>;
using Tensors = std::vector<at::Tensor>;

/// LibTorch runs the backward passes of one device on one thread, on which a rank cannot wait for
/// another. So threads do not share devices.
int ranks() {
  return std::min<int>(2, gpu::deviceCount());
}

class DeviceRanks : public ::testing::Test {
 protected:
  /// Ranks are threads, and the seed is the process's.
  torch::nn::Sequential net(std::uint64_t seed = 3) {
    const std::lock_guard<std::mutex> lock(mutex_);
    torch::manual_seed(seed);
    return torch::nn::Sequential(torch::nn::Linear(6, 16), torch::nn::Tanh(),
                                 torch::nn::Linear(16, 2));
  }
  static at::Tensor samples(int rank) {
    return at::sin(at::arange(8 * 6, at::kFloat) * 0.7 + rank * 5).view({8, 6});
  }
  static Tensors onHost(const Tensors& tensors) {
    Tensors copies;
    for (const at::Tensor& tensor : tensors) {
      copies.push_back(tensor.detach().cpu().to(at::kFloat, false, true));
    }
    return copies;
  }
  static void expectClose(const Tensors& tensors, const Tensors& expected, double tolerance) {
    ASSERT_EQ(tensors.size(), expected.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_TRUE(tensors[i].allclose(expected[i], tolerance, tolerance))
          << "tensor " << i << ": " << (tensors[i] - expected[i]).abs().max();
    }
  }

  std::mutex mutex_;
};

TEST_F(DeviceRanks, GetTheParametersOfTheRoot) {
  const Tensors expected = onHost(net(3)->parameters());
  testing::runRanksShared(ranks(), [&](const World& world) {
    torch::nn::Sequential model = net(static_cast<std::uint64_t>(3 + world->rank()));
    model->to(gpu::device(world->rank()));
    gpu::keepBusy(gpu::device(world->rank()), 20);
    broadcastParameters(*model, *world);
    checkParametersAreEqual(*model, *world);
    expectClose(onHost(model->parameters()), expected, 0);
    for (const at::Tensor& parameter : model->parameters()) {
      EXPECT_EQ(parameter.device(), gpu::device(world->rank()));
    }
  });
}

TEST_F(DeviceRanks, GetTheOptimizerStateOfTheRoot) {
  testing::runRanksShared(ranks(), [&](const World& world) {
    const c10::Device device = gpu::device(world->rank());
    torch::nn::Sequential model = net();
    model->to(device);
    torch::optim::Adam optimizer(model->parameters());
    const auto step = [&](int data) {
      optimizer.zero_grad();
      model->forward(samples(data).to(device)).pow(2).mean().backward();
      optimizer.step();
    };
    step(world->rank());
    broadcastParameters(*model, *world);
    broadcastOptimizerState(optimizer, *world);
    step(0);
    checkParametersAreEqual(*model, *world);
  });
}

TEST_F(DeviceRanks, AverageTheirParameters) {
  testing::runRanksShared(ranks(), [&](const World& world) {
    const c10::Device device = gpu::device(world->rank());
    torch::nn::Sequential model = net();
    model->to(device);
    gpu::keepBusy(device, 20);
    {
      const at::NoGradGuard noGrad;
      for (at::Tensor& parameter : model->parameters()) {
        parameter.fill_(world->rank());
      }
    }
    averageParameters(*model, *world);
    for (const at::Tensor& parameter : onHost(model->parameters())) {
      EXPECT_EQ(parameter.min().item<float>(), static_cast<float>(ranks() - 1) / 2);
      EXPECT_EQ(parameter.max().item<float>(), static_cast<float>(ranks() - 1) / 2);
    }
  });
}

TEST_F(DeviceRanks, NormalizeABatchOverAllSamples) {
  Tensors all;
  for (int rank = 0; rank < ranks(); ++rank) {
    all.push_back(samples(rank));
  }
  torch::nn::BatchNorm1d expected(6);
  const at::Tensor input = at::cat(all).set_requires_grad(true);
  const at::Tensor output = expected->forward(input);
  output.pow(3).sum().backward();
  testing::runRanksShared(ranks(), [&](const World& world) {
    const int rank = world->rank();
    const c10::Device device = gpu::device(rank);
    SyncBatchNorm layer(torch::nn::BatchNormOptions(6), world);
    layer->to(device);
    gpu::keepBusy(device, 20);
    const at::Tensor mine = samples(rank).to(device).set_requires_grad(true);
    const at::Tensor normalized = layer->forward(mine);
    normalized.pow(3).sum().backward();
    const std::int64_t first = rank * 8;
    expectClose(
        onHost({normalized, mine.grad(), layer->running_mean, layer->running_var}),
        {output.detach().slice(0, first, first + 8), input.grad().slice(0, first, first + 8),
         expected->running_mean, expected->running_var},
        1e-4);
  });
}

/// Gradients of an element type on devices equal those that one process computes in it.
class GradientsOfType : public DeviceRanks, public ::testing::WithParamInterface<c10::ScalarType> {
 protected:
  Tensors averaged(const std::string& library) {
    std::vector<Tensors> results(static_cast<std::size_t>(ranks()));
    testing::runRanksShared(ranks(), [&](const World& world) {
      const c10::Device device = gpu::device(world->rank());
      torch::nn::Sequential model = net();
      model->to(device, GetParam());
      GradientSyncOptions options;
      options.ncclLibrary = library;
      GradientSync sync(model->named_parameters(), world, options);
      gpu::keepBusy(device, 20);
      model->forward(samples(world->rank()).to(device, GetParam())).pow(2).mean().backward();
      sync.synchronize();
      Tensors gradients;
      for (const at::Tensor& parameter : model->parameters()) {
        EXPECT_EQ(parameter.grad().scalar_type(), GetParam());
        gradients.push_back(parameter.grad());
      }
      results[static_cast<std::size_t>(world->rank())] = onHost(gradients);
    });
    expectClose(results.back(), results.front(), 0);
    return results.front();
  }
};

TEST_P(GradientsOfType, AreTheMeanOfTheRanks) {
  Tensors expected;
  for (int rank = 0; rank < ranks(); ++rank) {
    torch::nn::Sequential model = net();
    model->forward(samples(rank)).pow(2).mean().backward();
    for (std::size_t i = 0; i < model->parameters().size(); ++i) {
      const at::Tensor share = model->parameters()[i].grad() / ranks();
      if (rank == 0) {
        expected.push_back(share);
      } else {
        expected[i] += share;
      }
    }
  }
  const double tolerance = GetParam() == at::kBFloat16 ? 2e-2
                           : GetParam() == at::kHalf   ? 3e-3
                                                       : 1e-5;
  expectClose(averaged(gpu::ncclLibrary()), expected, tolerance);
  expectClose(averaged(""), expected, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Types, GradientsOfType,
                         ::testing::Values(at::kHalf, at::kBFloat16, at::kFloat, at::kDouble),
                         [](const auto& type) { return c10::toString(type.param); });

}  // namespace
}  // namespace steptape
