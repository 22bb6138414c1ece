// SPDX-License-Identifier: Apache-2.0
// The parts of examples/model_parallel, on several devices.
#include <algorithm>
#include <memory>
#include <vector>

#include "steptape/ranks/testing.h"

#include "gpu/test_device.h"
#include "part.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using World = std::shared_ptr<Communicator>;

constexpr int kParts = 3;

/// Trains a network in parts on the devices, and returns its losses.
std::vector<double> lossesOn(const std::vector<c10::Device>& devices, const World& world,
                             std::int64_t microBatches) {
  torch::manual_seed(4);
  std::vector<Part> parts;
  for (int part = 0; part < kParts; ++part) {
    parts.emplace_back(torch::nn::Sequential(torch::nn::Linear(6, 6), torch::nn::Tanh()),
                       devices[static_cast<std::size_t>(part)], 0.1, world);
  }
  std::vector<double> losses;
  for (int step = 0; step < 4; ++step) {
    const at::Tensor samples = torch::sin(torch::arange(8 * 6) * 0.7 + step).view({8, 6});
    const at::Tensor output = forwardThrough(parts, samples, microBatches);
    const at::Tensor loss = output.pow(2).mean();
    for (Part& part : parts) {
      part.zeroGradients();
    }
    loss.backward();
    for (Part& part : parts) {
      part.step();
    }
    losses.push_back(loss.item<double>());
  }
  return losses;
}

void expectClose(const std::vector<double>& losses, const std::vector<double>& expected) {
  ASSERT_EQ(losses.size(), expected.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    EXPECT_NEAR(losses[i], expected[i], 1e-5) << "step " << i;
  }
}

TEST(ModelParallel, LearnsOnSeveralDevicesWhatOneLearns) {
  const auto world = std::make_shared<Communicator>();
  const std::vector<double> expected =
      lossesOn(std::vector<c10::Device>(kParts, c10::kCPU), world, 1);
  EXPECT_LT(expected.back(), expected.front());
  std::vector<c10::Device> devices;
  for (int part = 0; part < kParts; ++part) {
    devices.push_back(gpu::device(part));
  }
  expectClose(lossesOn(devices, world, 1), expected);
  expectClose(lossesOn(devices, world, 4), expected);
}

}  // namespace
}  // namespace steptape
