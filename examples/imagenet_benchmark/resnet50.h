// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <torch/torch.h>

/// A 1x1 convolution that reduces the channels, a 3x3 one, a 1x1 one that expands the channels,
/// each with BatchNorm, and a shortcut.
struct BottleneckImpl : torch::nn::Module {
  static constexpr std::int64_t kExpansion = 4;

  BottleneckImpl(std::int64_t in, std::int64_t width, std::int64_t stride)
      : main(register_module(
            "main",
            torch::nn::Sequential(conv(in, width, 1, 1), torch::nn::BatchNorm2d(width), relu(),
                                  conv(width, width, 3, stride), torch::nn::BatchNorm2d(width),
                                  relu(), conv(width, width * kExpansion, 1, 1),
                                  torch::nn::BatchNorm2d(width * kExpansion)))) {
    if (stride != 1 || in != width * kExpansion) {
      shortcut = register_module("shortcut",
                                 torch::nn::Sequential(conv(in, width * kExpansion, 1, stride),
                                                       torch::nn::BatchNorm2d(width * kExpansion)));
    }
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor skipped = shortcut.is_empty() ? input : shortcut->forward(input);
    return torch::relu(main->forward(input) + skipped);
  }

  static torch::nn::Conv2d conv(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                std::int64_t stride) {
    return torch::nn::Conv2d(
        torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
  }
  static torch::nn::ReLU relu() { return torch::nn::ReLU(torch::nn::ReLUOptions(true)); }

  torch::nn::Sequential main;
  torch::nn::Sequential shortcut{nullptr};  ///< Empty: the identity.
};
TORCH_MODULE(Bottleneck);

/// ResNet-50: 25,557,032 parameters for 1000 classes.
///
///     (n, 3, 224, 224) -> conv 7x7 -> pool -> 3, 4, 6, 3 bottlenecks of 64, 128, 256, 512 -> mean
///                      -> fc 2048:classes
///
/// @source He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", CVPR 2016, table 1;
///         the 3x3 convolution of a bottleneck has the stride, as in torchvision ("version 1.5").
struct ResNet50Impl : torch::nn::Module {
  explicit ResNet50Impl(std::int64_t classes = 1000)
      : stem(register_module(
            "stem",
            torch::nn::Sequential(
                BottleneckImpl::conv(3, 64, 7, 2), torch::nn::BatchNorm2d(64),
                BottleneckImpl::relu(),
                torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2).padding(1))))),
        classifier(register_module("classifier",
                                   torch::nn::Linear(512 * BottleneckImpl::kExpansion, classes))) {
    constexpr std::int64_t kWidths[] = {64, 128, 256, 512};
    constexpr int kBlocks[] = {3, 4, 6, 3};
    std::int64_t channels = 64;
    for (int stage = 0; stage < 4; ++stage) {
      for (int block = 0; block < kBlocks[stage]; ++block) {
        const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        blocks->push_back(Bottleneck(channels, kWidths[stage], stride));
        channels = kWidths[stage] * BottleneckImpl::kExpansion;
      }
    }
    register_module("blocks", blocks);
  }

  torch::Tensor forward(const torch::Tensor& images) {
    const torch::Tensor x = blocks->forward(stem->forward(images));
    return classifier->forward(x.mean({2, 3}));
  }

  torch::nn::Sequential stem;
  torch::nn::Sequential blocks;
  torch::nn::Linear classifier;
};
TORCH_MODULE(ResNet50);
