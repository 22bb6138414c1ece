// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/torch.h>

namespace steptape::test {

/// Returns one layer whose first weights identify its seed.
inline torch::nn::Linear makeModel(std::int64_t seed, std::int64_t inputs = 3) {
  torch::nn::Linear model(inputs, 2);
  const torch::NoGradGuard noGradients;
  model->weight.copy_(torch::arange(2 * inputs).view({2, inputs}).to(torch::kFloat) * 0.1F +
                      static_cast<float>(seed));
  model->bias.fill_(static_cast<float>(seed));
  return model;
}

/// Returns four samples, different for each number.
inline torch::Tensor samplesOf(std::int64_t number) {
  constexpr std::int64_t kBatch = 4;
  return torch::arange(kBatch * 3).view({kBatch, 3}).to(torch::kFloat) * 0.05F +
         static_cast<float>(number);
}

/// Makes one step on different samples for each `seed`, as a closure, which LBFGS calls several
/// times.
inline void trainStep(torch::nn::Linear model, torch::optim::Optimizer& optimizer,
                      std::int64_t seed) {
  optimizer.step([&] {
    optimizer.zero_grad();
    const torch::Tensor loss = model->forward(samplesOf(seed)).pow(2).mean();
    loss.backward();
    return loss;
  });
}

inline std::unique_ptr<torch::optim::Optimizer> momentumSgd(
    const std::vector<torch::Tensor>& parameters) {
  return std::make_unique<torch::optim::SGD>(parameters,
                                             torch::optim::SGDOptions(0.01).momentum(0.9));
}

}  // namespace steptape::test
