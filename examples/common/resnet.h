// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace example {

/// A convolution without bias, whose output has 1/stride of the size of its input.
inline torch::nn::Conv2d resnetConvolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                           std::int64_t stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

/// A shortcut around two 3x3 convolutions, or around a bottleneck: a 1x1 convolution that reduces
/// the channels, a 3x3 one, and a 1x1 one that expands them. BatchNorm follows each convolution.
struct ResidualBlockImpl : torch::nn::Module {
  ResidualBlockImpl(std::int64_t in, std::int64_t width, std::int64_t stride, bool isBottleneck) {
    const std::int64_t out = width * expansion(isBottleneck);
    if (isBottleneck) {
      add(in, width, 1, 1);
      add(width, width, 3, stride);
      add(width, out, 1, 1);
    } else {
      add(in, width, 3, stride);
      add(width, out, 3, 1);
    }
    if (stride != 1 || in != out) {
      downsample =
          register_module("downsample", torch::nn::Sequential(resnetConvolution(in, out, 1, stride),
                                                              torch::nn::BatchNorm2d(out)));
    }
  }

  /// Returns the channels that a block of width 1 makes.
  static std::int64_t expansion(bool isBottleneck) { return isBottleneck ? 4 : 1; }

  torch::Tensor forward(const torch::Tensor& input) {
    torch::Tensor x = input;
    for (std::size_t i = 0; i < convolutions.size(); ++i) {
      x = norms[i]->forward(convolutions[i]->forward(i == 0 ? x : x.relu_()));
    }
    return torch::relu(x + (downsample.is_empty() ? input : downsample->forward(input)));
  }

  std::vector<torch::nn::Conv2d> convolutions;
  std::vector<torch::nn::BatchNorm2d> norms;
  torch::nn::Sequential downsample{nullptr};  ///< Empty: the identity.

 private:
  void add(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    const std::string number = std::to_string(convolutions.size() + 1);
    convolutions.push_back(
        register_module("conv" + number, resnetConvolution(in, out, kernel, stride)));
    norms.push_back(register_module("bn" + number, torch::nn::BatchNorm2d(out)));
  }
};
TORCH_MODULE(ResidualBlock);

/// The size of a ResNet.
struct ResNetSize {
  std::array<std::int64_t, 4> blocks{};  ///< Of each layer.
  bool isBottleneck = false;
  std::int64_t classes = 1000;
};

inline ResNetSize resnet50(std::int64_t classes) {
  return {{3, 4, 6, 3}, true, classes};
}

/// A ResNet for ImageNet. The names of its parameters are those of torchvision, and so is the
/// stride of a bottleneck, which is that of the 3x3 convolution ("version 1.5"). ResNet-50 has
/// 25,557,032 parameters for 1000 classes.
///
///     (n, 3, 224, 224) -> conv1 7x7 -> pool -> layer1 ... layer4, of 64 ... 512 -> mean
///                      -> fc 512 or 2048:classes
///
/// @source He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", CVPR 2016, table 1
struct ResNetImpl : torch::nn::Module {
  explicit ResNetImpl(const ResNetSize& size)
      : conv1(register_module("conv1", resnetConvolution(3, 64, 7, 2))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(64))) {
    std::int64_t channels = 64;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::int64_t width = std::int64_t{64} << i;
      for (std::int64_t block = 0; block < size.blocks[i]; ++block) {
        const std::int64_t stride = i > 0 && block == 0 ? 2 : 1;
        layers[i]->push_back(ResidualBlock(channels, width, stride, size.isBottleneck));
        channels = width * ResidualBlockImpl::expansion(size.isBottleneck);
      }
      register_module("layer" + std::to_string(i + 1), layers[i]);
    }
    fc = register_module("fc", torch::nn::Linear(channels, size.classes));
  }

  torch::Tensor forward(const torch::Tensor& images) {
    torch::Tensor x = bn1->forward(conv1->forward(images)).relu_();
    x = torch::max_pool2d(x, 3, 2, 1);
    for (torch::nn::Sequential& layer : layers) {
      x = layer->forward(x);
    }
    return fc->forward(x.mean({2, 3}));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  std::array<torch::nn::Sequential, 4> layers;
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(ResNet);

}  // namespace example
