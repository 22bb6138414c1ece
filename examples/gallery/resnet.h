// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <steptape/profile.h>

#include <torch/torch.h>

/// Two convolutions and a shortcut (He et al., Deep Residual Learning, 2016).
struct BlockImpl : torch::nn::Module {
  BlockImpl(std::int64_t channelsIn, std::int64_t channels, std::int64_t stride)
      : conv1(register_module("conv1", convolution(channelsIn, channels, 3, stride))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(channels))),
        conv2(register_module("conv2", convolution(channels, channels, 3, 1))),
        bn2(register_module("bn2", torch::nn::BatchNorm2d(channels))) {
    if (channelsIn != channels) {
      downsample = register_module(
          "downsample", torch::nn::Sequential(convolution(channelsIn, channels, 1, stride),
                                              torch::nn::BatchNorm2d(channels)));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    // Puts the sum and the last relu, which have no parameters, into the block's scope.
    STEPTAPE_ZONE("residual");
    torch::Tensor y = torch::relu(bn1->forward(conv1->forward(x)));
    y = bn2->forward(conv2->forward(y));
    return torch::relu(y + (downsample ? downsample->forward(x) : x));
  }

  static torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                       std::int64_t stride) {
    return torch::nn::Conv2d(
        torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
  torch::nn::Sequential downsample = nullptr;  ///< Empty if the number of channels does not change.
};
TORCH_MODULE(Block);

/// A ResNet with two stages.
///
///     (n, 3, 32, 32) -> conv1 -> maxpool -> layer1 -> layer2 -> average -> fc -> (n, 10)
struct ResNetImpl : torch::nn::Module {
  ResNetImpl()
      : conv1(register_module("conv1",
                              torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).padding(1)))),
        layer1(
            register_module("layer1", torch::nn::Sequential(Block(16, 16, 1), Block(16, 16, 1)))),
        layer2(
            register_module("layer2", torch::nn::Sequential(Block(16, 32, 2), Block(32, 32, 1)))),
        fc(register_module("fc", torch::nn::Linear(32, 10))) {}

  torch::Tensor forward(const torch::Tensor& images) {
    torch::Tensor x = torch::max_pool2d(torch::relu(conv1->forward(images)), 2);
    x = layer2->forward(layer1->forward(x));
    return fc->forward(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

  torch::nn::Conv2d conv1;
  torch::nn::Sequential layer1;
  torch::nn::Sequential layer2;
  torch::nn::Linear fc;
};
TORCH_MODULE(ResNet);
