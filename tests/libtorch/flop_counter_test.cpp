// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "steptape/libtorch/op_profiler.h"

#include <gtest/gtest.h>
#include <torch/nn/functional.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace steptape {
namespace {

constexpr std::int64_t kLinear = 2 * 6 * 64 * 16;  // One product: 6 samples, 64 to 16 features.

void pass(torch::nn::Linear& layer) {
  layer->forward(torch::ones({6, 64}));
}

TEST(FlopCounter, CountsForwardAndBothGradientsOfALinearLayer) {
  torch::nn::Linear layer(64, 16);
  const at::Tensor input = torch::ones({6, 64}, torch::requires_grad());
  const FlopCounter counter;
  const at::Tensor output = layer->forward(input);
  EXPECT_EQ(counter.flops(), kLinear);
  output.sum().backward();
  EXPECT_EQ(counter.flops(), 3 * kLinear);
}

TEST(FlopCounter, CountsNoGradientThatIsNotComputed) {
  torch::nn::Linear layer(64, 16);
  const FlopCounter counter;
  layer->forward(torch::ones({6, 64})).sum().backward();
  EXPECT_EQ(counter.flops(), 2 * kLinear) << "the input needs no gradient";
}

TEST(FlopCounter, CountsAGroupedStridedConvolution) {
  // 4 to 8 channels in 2 groups, on 2 images of 9 x 9, which become 4 x 4.
  torch::nn::Conv2d layer(torch::nn::Conv2dOptions(4, 8, 3).stride(2).groups(2));
  const at::Tensor input = torch::ones({2, 4, 9, 9}, torch::requires_grad());
  constexpr std::int64_t kForward = std::int64_t{2} * 2 * 8 * 4 * 4 * 2 * 3 * 3;
  const FlopCounter counter;
  const at::Tensor output = layer->forward(input);
  EXPECT_EQ(counter.flops(), kForward);
  output.sum().backward();
  EXPECT_EQ(counter.flops(), 3 * kForward);
}

TEST(FlopCounter, CountsNothingOutsideItsLifetime) {
  torch::nn::Linear layer(64, 16);
  {
    const FlopCounter counter;
    pass(layer);
  }
  pass(layer);
  const FlopCounter counter;
  EXPECT_EQ(counter.flops(), 0);
}

TEST(FlopCounter, CountsNothingOfOtherThreads) {
  torch::nn::Linear layer(64, 16);
  const FlopCounter counter;
  std::thread([&] {
    const FlopCounter ofThread;
    pass(layer);
    EXPECT_EQ(ofThread.flops(), kLinear);
  }).join();
  EXPECT_EQ(counter.flops(), 0);
}

TEST(FlopCounter, AddsAnInnerCountersOperationsOnce) {
  torch::nn::Linear layer(64, 16);
  const FlopCounter outer;
  pass(layer);
  {
    const FlopCounter inner;
    pass(layer);
    EXPECT_EQ(inner.flops(), kLinear);
  }
  pass(layer);
  EXPECT_EQ(outer.flops(), 3 * kLinear);
}

TEST(FlopCounter, CountsNothingForOtherOperators) {
  const at::Tensor values = torch::ones({64, 16}, torch::requires_grad());
  const FlopCounter counter;
  values.relu().softmax(1).sum().backward();
  EXPECT_EQ(counter.flops(), 0);
}

}  // namespace
}  // namespace steptape
