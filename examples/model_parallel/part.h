// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <steptape/train/gradient_sync.h>
#include <steptape/train/parameters.h>

#include "on_ranks.h"

#include <torch/torch.h>

/// Some layers of a network on one device, with their own optimizer. The ranks average the
/// gradients of the same part.
class Part {
 public:
  Part(torch::nn::Sequential layers, torch::Device device, double lr, const example::World& world)
      : layers_(std::move(layers)), device_(device) {
    layers_->to(device_);
    steptape::broadcastParameters(*layers_, *world);
    optimizer_ = std::make_unique<torch::optim::SGD>(layers_->parameters(),
                                                     torch::optim::SGDOptions(lr).momentum(0.9));
    steptape::GradientSyncOptions options;
    // Backward passes through different devices run on different threads, in an order that differs
    // between ranks. The exchange therefore starts after all of them have ended.
    options.overlap = false;
    sync_ = std::make_unique<steptape::GradientSync>(layers_->named_parameters(), world, options);
  }

  torch::Tensor forward(const torch::Tensor& input) {
    return layers_->forward(input.to(device_, /*non_blocking=*/true));
  }
  void zeroGradients() { optimizer_->zero_grad(); }
  void step() { sync_->step(*optimizer_); }
  void train(bool on) { layers_->train(on); }

  torch::Device device() const { return device_; }
  std::int64_t parameters() const {
    std::int64_t count = 0;
    for (const torch::Tensor& parameter : layers_->parameters()) {
      count += parameter.numel();
    }
    return count;
  }
  double waitSeconds() const { return sync_->stats().waitSeconds; }

 private:
  torch::nn::Sequential layers_;
  torch::Device device_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  std::unique_ptr<steptape::GradientSync> sync_;
};

/// Sends a batch through all parts, one after the other.
///
/// The batch is divided into micro-batches: while one is in the second part, the next is in the
/// first. GPUs compute while the host continues, so all parts compute at the same time; CPUs take
/// turns.
///
/// @return the output of the last part, on its device.
/// @source Huang et al., "GPipe", arXiv:1811.06965, section 2.
inline torch::Tensor forwardThrough(std::vector<Part>& parts, const torch::Tensor& batch,
                                    std::int64_t microBatches) {
  std::vector<torch::Tensor> pieces = batch.chunk(microBatches);
  const auto last = static_cast<std::ptrdiff_t>(parts.size()) - 1;
  const auto count = static_cast<std::ptrdiff_t>(pieces.size());
  for (std::ptrdiff_t tick = 0; tick < count + last; ++tick) {
    for (std::ptrdiff_t part = last; part >= 0; --part) {
      const std::ptrdiff_t piece = tick - part;
      if (piece >= 0 && piece < count) {
        torch::Tensor& value = pieces[static_cast<std::size_t>(piece)];
        value = parts[static_cast<std::size_t>(part)].forward(value);
      }
    }
  }
  return torch::cat(pieces);
}
