// SPDX-License-Identifier: Apache-2.0
#include "gpu/simulated/simulated_gpu.h"

#include <cmath>
#include <csignal>
#include <future>
#include <vector>

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

namespace steptape::simulated_gpu {
namespace {

torch::nn::Sequential smallNet() {
  torch::manual_seed(1);
  return torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 4, 3).bias(false)),
                               torch::nn::BatchNorm2d(4), torch::nn::Flatten(),
                               torch::nn::Linear(4 * 4 * 4, 3));
}

std::vector<at::Tensor> trained(c10::Device device) {
  torch::nn::Sequential net = smallNet();
  net->to(device);
  torch::optim::Adam optimizer(net->parameters());
  for (int step = 0; step < 3; ++step) {
    torch::manual_seed(step);
    const at::Tensor input = torch::randn({8, 1, 6, 6}).to(device);
    const at::Tensor target = torch::randint(3, {8}).to(device);
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(net->forward(input), target).backward();
    optimizer.step();
  }
  std::vector<at::Tensor> parameters;
  for (const at::Tensor& parameter : net->parameters()) {
    parameters.push_back(parameter.detach().cpu());
  }
  return parameters;
}

TEST(SimulatedGpu, TrainsLikeTheProcessor) {
  const std::vector<at::Tensor> expected = trained(at::kCPU);
  const std::vector<at::Tensor> parameters = trained(device(1));
  ASSERT_EQ(parameters.size(), expected.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_TRUE(torch::allclose(parameters[i], expected[i], 1e-5, 1e-6));
  }
}

TEST(SimulatedGpu, RunsWorkInTheOrderOfItsStream) {
  at::Tensor tensor = torch::zeros({4}, device());
  keepBusy(device(), 30);
  tensor.add_(1);
  tensor.mul_(5);
  EXPECT_EQ(tensor.cpu()[3].item<float>(), 5);
}

/// Work that lasts until open().
class Gate {
 public:
  void wait() const { isOpen_.wait(); }
  void open() { open_.set_value(); }

 private:
  std::promise<void> open_;
  std::shared_future<void> isOpen_ = open_.get_future().share();
};

TEST(SimulatedGpu, ShowsThatAStreamDidNotWaitForAnother) {
  const c10::impl::VirtualGuardImpl guard(kType);
  const auto sumOnOtherStream = [&](bool waits) {
    Gate gate;
    at::Tensor tensor = torch::zeros({4}, device());
    waitForCurrentStream(device());
    enqueue(currentStream(device()), [&gate] { gate.wait(); });
    tensor.add_(1);
    c10::Event event(kType);
    event.record(guard.getStream(device()));
    const c10::StreamGuard onOther(guard.getStreamFromGlobalPool(device()));
    if (waits) {
      event.block(guard.getStream(device()));
      gate.open();
    }
    const float sum = tensor.sum().cpu().item<float>();
    if (!waits) {
      gate.open();
    }
    event.synchronize();
    return sum;
  };
  EXPECT_EQ(sumOnOtherStream(false), 0);
  EXPECT_EQ(sumOnOtherStream(true), 4);
}

TEST(SimulatedGpu, ShowsThatFreedMemoryIsStillUsed) {
  const c10::impl::VirtualGuardImpl guard(kType);
  const auto readAfterFree = [&](bool isRecorded) {
    Gate gate;
    at::Tensor tensor = torch::ones({4}, device());
    waitForCurrentStream(device());
    const c10::Stream other = guard.getStreamFromGlobalPool(device());
    float read = 0;
    enqueue(other.native_handle(), [&, view = kernelView(tensor.data_ptr())] {
      gate.wait();
      read = *static_cast<float*>(view);
    });
    if (isRecorded) {
      guard.recordDataPtrOnStream(tensor.storage().data_ptr(), other);
    }
    tensor.reset();
    if (!isRecorded) {
      waitForCurrentStream(device());
    }
    gate.open();
    guard.synchronizeStream(other);
    return read;
  };
  EXPECT_TRUE(std::isnan(readAfterFree(false)));
  EXPECT_EQ(readAfterFree(true), 1);
}

TEST(SimulatedGpuDeathTest, HidesItsMemoryFromTheHost) {
  const at::Tensor tensor = torch::ones({4}, device());
  EXPECT_EXIT(
      {
        volatile float read = *tensor.data_ptr<float>();
        static_cast<void>(read);
      },
      ::testing::KilledBySignal(SIGSEGV), "");
  const HostAccess access;
  waitForCurrentStream(device());
  EXPECT_EQ(*tensor.data_ptr<float>(), 1);
}

}  // namespace
}  // namespace steptape::simulated_gpu
