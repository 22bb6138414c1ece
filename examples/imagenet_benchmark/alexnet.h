// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <torch/torch.h>

/// AlexNet with one column: 61,100,840 parameters for 1000 classes. Most of them are in the fully
/// connected layers, so the exchange of gradients takes a large part of a step.
///
///     (n, 3, 224, 224) -> 5 convolutions -> 6 x 6 means -> fc 9216:4096 -> fc 4096:4096 -> fc
///     :classes
///
/// @source Krizhevsky, "One weird trick for parallelizing convolutional neural networks",
///         arXiv:1404.5997; layers as in torchvision.
struct AlexNetImpl : torch::nn::Module {
  explicit AlexNetImpl(std::int64_t classes = 1000)
      : features(register_module(
            "features",
            torch::nn::Sequential(
                conv(3, 64, 11, 4, 2), relu(), pool(), conv(64, 192, 5, 1, 2), relu(), pool(),
                conv(192, 384, 3, 1, 1), relu(), conv(384, 256, 3, 1, 1), relu(),
                conv(256, 256, 3, 1, 1), relu(), pool(),
                torch::nn::AdaptiveAvgPool2d(torch::nn::AdaptiveAvgPool2dOptions({6, 6}))))),
        classifier(register_module(
            "classifier",
            torch::nn::Sequential(torch::nn::Flatten(), torch::nn::Dropout(0.5),
                                  torch::nn::Linear(256 * 6 * 6, 4096), relu(),
                                  torch::nn::Dropout(0.5), torch::nn::Linear(4096, 4096), relu(),
                                  torch::nn::Linear(4096, classes)))) {}

  torch::Tensor forward(const torch::Tensor& images) {
    return classifier->forward(features->forward(images));
  }

  static torch::nn::Conv2d conv(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                std::int64_t stride, std::int64_t padding) {
    return torch::nn::Conv2d(
        torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(padding));
  }
  static torch::nn::ReLU relu() { return torch::nn::ReLU(torch::nn::ReLUOptions(true)); }
  static torch::nn::MaxPool2d pool() {
    return torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2));
  }

  torch::nn::Sequential features;
  torch::nn::Sequential classifier;
};
TORCH_MODULE(AlexNet);
