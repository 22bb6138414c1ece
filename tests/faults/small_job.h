// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <steptape/trainer.h>

#include <torch/torch.h>

namespace steptape::test {

using World = std::shared_ptr<Communicator>;

constexpr std::int64_t kSteps = 16;
constexpr std::int64_t kStepsBetweenCheckpoints = 4;

/// A small network with dropout, so that a resumed run needs its random state.
struct SmallNet : torch::nn::Module {
  explicit SmallNet(std::int64_t hidden = 3)
      : first(register_module("first", torch::nn::Linear(4, hidden))),
        last(register_module("last", torch::nn::Linear(hidden, 2))) {}

  torch::Tensor forward(const torch::Tensor& images) {
    const torch::Tensor hidden = torch::tanh(first->forward(images.view({-1, 4})));
    const torch::Tensor dropped = torch::dropout(hidden, 0.25, is_training());
    torch::Tensor output = torch::log_softmax(last->forward(dropped), 1);
    if (is_training()) {
      inForward(output);
    }
    return output;
  }

  torch::nn::Linear first;
  torch::nn::Linear last;
  /// Called with each output during training.
  std::function<void(torch::Tensor&)> inForward = [](torch::Tensor& /*output*/) {};
};

/// Returns images of two classes, of which one is bright.
inline ImageDataset images(std::int64_t count) {
  const torch::Tensor labels = torch::arange(count).remainder(3).eq(0).to(torch::kLong);
  const torch::Tensor pixels = labels * 150 + torch::arange(count).remainder(50);
  return {pixels.view({count, 1, 1, 1}).expand({count, 1, 2, 2}).to(torch::kByte), labels};
}

inline ImageLoader loader(const Communicator& world, std::int64_t count = 80,
                          std::int64_t batchSize = 2, std::uint64_t seed = 0) {
  DistributedSamplerOptions options;
  options.seed = seed;
  return {images(count), {count, world, options}, batchSize};
}

inline ImageLoader testLoader(const Communicator& world) {
  DistributedSamplerOptions options;
  options.shuffle = false;
  options.evenShares = false;
  return {images(20), {20, world, options}, 4};
}

inline torch::optim::SGDOptions momentumOptions(double rate = 0.1) {
  return torch::optim::SGDOptions(rate).momentum(0.9);
}

}  // namespace steptape::test
