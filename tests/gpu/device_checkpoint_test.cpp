// SPDX-License-Identifier: Apache-2.0
// Checkpoints of models, optimizers and random numbers on devices.
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/checkpoint.h"

#include "gpu/test_device.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

namespace steptape {
namespace {

using Tensors = std::vector<at::Tensor>;

/// A network with dropout, so that training draws random numbers on the device.
class DeviceCheckpoint : public ::testing::Test {
 protected:
  /// One step for the same samples; random numbers of the device select what is dropped.
  void step(std::int64_t number) {
    optimizer_.zero_grad();
    const at::Tensor samples = at::sin(at::arange(8 * 6, at::kFloat) + number).view({8, 6});
    net_->forward(samples.to(device_)).pow(2).mean().backward();
    optimizer_.step();
  }
  Tensors parameters() const {
    Tensors copies;
    for (const at::Tensor& parameter : net_->parameters()) {
      copies.push_back(parameter.detach().cpu().clone());
    }
    return copies;
  }
  void setParameters(double value) {
    const at::NoGradGuard noGrad;
    for (at::Tensor& parameter : net_->parameters()) {
      parameter.fill_(value);
    }
  }
  void expectParameters(const Tensors& expected) const {
    const Tensors got = parameters();
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i].equal(expected[i])) << "parameter " << i;
    }
  }

  testing::TempDir dir_;
  std::string path_ = dir_.string() + "/checkpoint.pt";
  c10::Device device_ = gpu::device();
  std::shared_ptr<Communicator> world_ = std::make_shared<Communicator>();
  torch::nn::Sequential net_ = [this] {
    torch::manual_seed(3);
    torch::nn::Sequential net(torch::nn::Linear(6, 16), torch::nn::Dropout(0.5),
                              torch::nn::Linear(16, 2));
    net->to(device_);
    return net;
  }();
  torch::optim::Adam optimizer_{net_->parameters()};
};

TEST_F(DeviceCheckpoint, ContinuesBitForBit) {
  step(0);
  step(1);
  saveCheckpoint(path_, *net_, optimizer_, {}, *world_);
  step(2);
  step(3);
  const Tensors expected = parameters();
  torch::manual_seed(77);
  setParameters(1);
  step(4);
  loadCheckpoint(path_, *net_, optimizer_, *world_);
  step(2);
  step(3);
  expectParameters(expected);
}

TEST_F(DeviceCheckpoint, RestoresTheRandomNumbersOfEveryDeviceOfTheModel) {
  for (c10::DeviceIndex index = 1; index < gpu::deviceCount(); ++index) {
    torch::nn::Linear more(2, 2);
    more->to(gpu::device(index));
    net_->push_back(more);
  }
  const auto draw = [] {
    Tensors numbers;
    for (c10::DeviceIndex index = 0; index < gpu::deviceCount(); ++index) {
      numbers.push_back(at::rand({100}, gpu::device(index)).cpu());
    }
    return numbers;
  };
  torch::optim::Adam optimizer(net_->parameters());
  draw();
  saveCheckpoint(path_, *net_, optimizer, {}, *world_);
  const Tensors expected = draw();
  torch::manual_seed(77);
  draw();
  loadCheckpoint(path_, *net_, optimizer, *world_);
  const Tensors again = draw();
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_TRUE(again[i].equal(expected[i])) << "device " << i;
  }
}

TEST_F(DeviceCheckpoint, KeepsParametersAndOptimizerStateOnTheDevice) {
  step(0);
  saveCheckpoint(path_, *net_, optimizer_, {}, *world_);
  loadCheckpoint(path_, *net_, optimizer_, *world_);
  for (const at::Tensor& parameter : net_->parameters()) {
    EXPECT_EQ(parameter.device(), device_);
    const auto state = optimizer_.state().find(parameter.unsafeGetTensorImpl());
    ASSERT_NE(state, optimizer_.state().end());
    const auto& adam = static_cast<const torch::optim::AdamParamState&>(*state->second);
    EXPECT_EQ(adam.exp_avg().device(), device_);
    EXPECT_EQ(adam.exp_avg_sq().device(), device_);
  }
}

TEST_F(DeviceCheckpoint, IsReadByAModelOnTheCpu) {
  step(0);
  saveCheckpoint(path_, *net_, optimizer_, {}, *world_);
  const Tensors expected = parameters();
  torch::nn::Sequential onCpu(torch::nn::Linear(6, 16), torch::nn::Dropout(0.5),
                              torch::nn::Linear(16, 2));
  torch::optim::Adam optimizer(onCpu->parameters());
  loadCheckpoint(path_, *onCpu, optimizer, *world_);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(onCpu->parameters()[i].equal(expected[i])) << "parameter " << i;
  }
}

TEST_F(DeviceCheckpoint, HoldsTheStateAtTheCallIfItIsWrittenInTheBackground) {
  CheckpointStore store(dir_.string(), world_);
  step(0);
  store.saveAsync(*net_, optimizer_, {}).wait();  // allocates page-locked memory
  step(1);
  const Tensors expected = parameters();
  gpu::waitFor(device_);
  gpu::keepBusy(device_, gpu::kLongMillis);
  TrainingProgress progress;
  progress.step = 2;
  const std::int64_t before = gpu::hostWaits();
  store.wait();
  EXPECT_TRUE(gpu::isBusy(device_));
  CheckpointCopy copy = store.saveAsync(*net_, optimizer_, progress);
  EXPECT_EQ(gpu::hostWaits(), before);
  EXPECT_TRUE(gpu::isBusy(device_));
  copy.wait();
  setParameters(1);
  store.wait();
  const auto found = store.loadNewest(*net_, optimizer_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->progress.step, 2);
  expectParameters(expected);
}

}  // namespace
}  // namespace steptape
