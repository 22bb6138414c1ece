// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"
#include "steptape/train/gradient_sync.h"

#include "gpu/simulated/simulated_gpu.h"

#include <c10/core/DeviceGuard.h>
#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

/// Ranks that train one network, each with its own samples on its own simulated GPU.
namespace steptape::test {

using World = std::shared_ptr<Communicator>;
using Tensors = std::vector<at::Tensor>;

inline constexpr int kSteps = 4;

/// The network's gradients are two buckets or more.
inline GradientSyncOptions smallBuckets(const std::string& ncclLibrary) {
  GradientSyncOptions options;
  options.ncclLibrary = ncclLibrary;
  options.firstBucketBytes = 256;
  options.bucketBytes = 1024;
  return options;
}

inline torch::nn::Sequential net() {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  torch::manual_seed(3);
  return torch::nn::Sequential(torch::nn::Linear(6, 16), torch::nn::Tanh(),
                               torch::nn::Linear(16, 16), torch::nn::Tanh(),
                               torch::nn::Linear(16, 2));
}

inline at::Tensor lossOf(torch::nn::Sequential& net, int rank, int step, c10::Device device) {
  const at::Tensor samples = at::sin(at::arange(8 * 6, at::kFloat) * 0.7 + rank * 5 + step);
  return net->forward(samples.view({8, 6}).to(device)).pow(2).mean();
}

inline c10::Device gpuOf(const Communicator& world) {
  return simulated_gpu::device(static_cast<c10::DeviceIndex>(world.rank()));
}

inline Tensors onHost(const Tensors& tensors) {
  Tensors copies;
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(tensor.detach().cpu().clone());
  }
  return copies;
}

/// Trains with the mean of all ranks' losses in one process.
inline Tensors trainedByOne(int ranks) {
  torch::nn::Sequential model = net();
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    at::Tensor loss = torch::zeros({});
    for (int rank = 0; rank < ranks; ++rank) {
      loss = loss + lossOf(model, rank, step, at::kCPU) / ranks;
    }
    loss.backward();
    optimizer.step();
  }
  return onHost(model->parameters());
}

struct Trained {
  Tensors parameters;
  std::string describe;
  std::int64_t bytesToHost = 0;  ///< Of this process, in all steps but the first.
};

inline Trained train(const World& world, const GradientSyncOptions& options) {
  const c10::Device device = gpuOf(*world);
  const c10::DeviceGuard guard(device);
  torch::nn::Sequential model = net();
  model->to(device);
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  GradientSync sync(model->named_parameters(), world, options);
  std::int64_t bytesBefore = 0;
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    simulated_gpu::keepBusy(device, 5);
    lossOf(model, world->rank(), step, device).backward();
    sync.step(optimizer);
    if (step == 0) {
      bytesBefore = simulated_gpu::counts().bytesToHost;
    }
  }
  const std::int64_t bytes = simulated_gpu::counts().bytesToHost - bytesBefore;
  return {onHost(model->parameters()), sync.describe(), bytes};
}

inline void expectClose(const Tensors& tensors, const Tensors& expected, double tolerance) {
  ASSERT_EQ(tensors.size(), expected.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(torch::allclose(tensors[i], expected[i], tolerance, tolerance))
        << "parameter " << i << ": " << (tensors[i] - expected[i]).abs().max();
  }
}

inline void expectEqual(const Tensors& tensors, const Tensors& expected) {
  ASSERT_EQ(tensors.size(), expected.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(tensors[i].equal(expected[i])) << "parameter " << i;
  }
}

/// A rank that has averaged gradients once, so that its buckets and their exchange exist.
class GradientRank {
 public:
  GradientRank(const World& world, const GradientSyncOptions& options)
      : world_(world), device_(gpuOf(*world)), guard_(device_), model_(net()) {
    model_->to(device_);
    sync_ = std::make_unique<GradientSync>(model_->named_parameters(), world, options);
    backward();
    sync_->synchronize();
  }

  c10::Device device() const { return device_; }
  GradientSync& sync() { return *sync_; }
  void backward() { lossOf(model_, world_->rank(), 0, device_).backward(); }

 private:
  World world_;
  c10::Device device_;
  c10::DeviceGuard guard_;
  torch::nn::Sequential model_;
  std::unique_ptr<GradientSync> sync_;
};

}  // namespace steptape::test
