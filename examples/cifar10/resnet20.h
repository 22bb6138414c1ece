// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <torch/torch.h>

/// Two 3x3 convolutions and a shortcut. If the block halves the image and adds channels, the
/// shortcut takes every second pixel and appends channels of zeros. It needs no parameters: "option
/// A" of the paper.
struct ResidualBlockImpl : torch::nn::Module {
  ResidualBlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : addedChannels(out - in),
        shortcutStride(stride),
        conv1(register_module("conv1", convolution(in, out, stride))),
        norm1(register_module("norm1", torch::nn::BatchNorm2d(out))),
        conv2(register_module("conv2", convolution(out, out, 1))),
        norm2(register_module("norm2", torch::nn::BatchNorm2d(out))) {}

  static torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t stride) {
    return torch::nn::Conv2d(
        torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    torch::Tensor x = torch::relu(norm1->forward(conv1->forward(input)));
    x = norm2->forward(conv2->forward(x));
    return torch::relu(x + shortcut(input));
  }

  torch::Tensor shortcut(const torch::Tensor& input) const {
    if (addedChannels == 0) {
      return input;
    }
    const torch::Tensor smaller = input.slice(2, 0, torch::nullopt, shortcutStride)
                                      .slice(3, 0, torch::nullopt, shortcutStride);
    return torch::constant_pad_nd(smaller, {0, 0, 0, 0, addedChannels / 2, addedChannels / 2});
  }

  std::int64_t addedChannels;
  std::int64_t shortcutStride;
  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d norm2;
};
TORCH_MODULE(ResidualBlock);

/// The residual network of 20 layers for CIFAR-10, 269,722 parameters.
///
///     (n, 3, 32, 32) -> conv 3:16 -> 3 blocks of 16 -> 3 of 32 -> 3 of 64 -> mean -> fc 64:10
///                    -> log-probabilities (n, 10)
///
/// @source He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", CVPR 2016, section
///         4.2 with n = 3; weights as in their "Delving Deep into Rectifiers", ICCV 2015.
struct ResNet20Impl : torch::nn::Module {
  ResNet20Impl()
      : stem(register_module("stem", ResidualBlockImpl::convolution(3, 16, 1))),
        norm(register_module("norm", torch::nn::BatchNorm2d(16))),
        classifier(register_module("classifier", torch::nn::Linear(64, 10))) {
    register_module("blocks", blocks);
    std::int64_t channels = 16;
    for (const std::int64_t width : {16, 32, 64}) {
      for (int i = 0; i < 3; ++i) {
        blocks->push_back(ResidualBlock(channels, width, channels == width ? 1 : 2));
        channels = width;
      }
    }
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = module->as<torch::nn::Conv2d>()) {
        torch::nn::init::kaiming_normal_(conv->weight, 0.0, torch::kFanOut, torch::kReLU);
      }
    }
  }

  torch::Tensor forward(const torch::Tensor& images) {
    torch::Tensor x = torch::relu(norm->forward(stem->forward(images)));
    x = blocks->forward(x).mean({2, 3});
    return torch::log_softmax(classifier->forward(x), 1);
  }

  torch::nn::Conv2d stem;
  torch::nn::BatchNorm2d norm;
  torch::nn::Sequential blocks;
  torch::nn::Linear classifier;
};
TORCH_MODULE(ResNet20);
