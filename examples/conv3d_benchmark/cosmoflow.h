// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <torch/torch.h>

struct CosmoFlowOptions {
  std::int64_t imageSize = 128;
  std::int64_t inputChannels = 4;
  std::int64_t channels = 16;
  std::int64_t layers = 5;
  std::int64_t kernelSize = 2;
};

/// The network of MLPerf HPC's CosmoFlow: estimates 4 parameters of a universe from its densities.
/// 2,454,964 parameters by default. Each convolution halves the size and doubles the channels.
///
///     (n, 4, 128, 128, 128) -> 5 convolutions -> fc 16384:128 -> fc 128:64 -> fc 64:4 -> 1.2 tanh
///
/// @source Mathuriya et al., "CosmoFlow: Using Deep Learning to Learn the Universe at Scale",
///         arXiv:1808.04728; layers as in github.com/sparticlesteve/cosmoflow-benchmark, without
///         dropout.
struct CosmoFlowImpl : torch::nn::Module {
  static constexpr std::int64_t kTargets = 4;

  explicit CosmoFlowImpl(const CosmoFlowOptions& options)
      : features(register_module("features", makeFeatures(options))),
        regression(register_module("regression", makeRegression(options))) {}

  torch::Tensor forward(const torch::Tensor& images) {
    return 1.2 * regression->forward(features->forward(images)).tanh();
  }

  torch::nn::Sequential features;
  torch::nn::Sequential regression;

 private:
  static torch::nn::Sequential makeFeatures(const CosmoFlowOptions& options) {
    torch::nn::Sequential layers;
    std::int64_t in = options.inputChannels;
    std::int64_t out = options.channels;
    for (std::int64_t i = 0; i < options.layers; ++i) {
      addConvolution(layers, in, out, options.kernelSize);
      layers->push_back(torch::nn::LeakyReLU());
      layers->push_back(torch::nn::MaxPool3d(torch::nn::MaxPool3dOptions(2)));
      in = out;
      out *= 2;
    }
    layers->push_back(torch::nn::Flatten());
    return layers;
  }

  /// Adds a convolution whose output is as large as its input. An even kernel needs one more zero
  /// after the image than before it, which LibTorch's own padding does only with a warning.
  static void addConvolution(torch::nn::Sequential& layers, std::int64_t in, std::int64_t out,
                             std::int64_t kernelSize) {
    const std::int64_t before = (kernelSize - 1) / 2;
    const std::int64_t after = kernelSize / 2;
    if (before != after) {
      layers->push_back(torch::nn::ConstantPad3d(torch::nn::ConstantPad3dOptions(
          {before, after, before, after, before, after}, /*value=*/0)));
    }
    layers->push_back(torch::nn::Conv3d(
        torch::nn::Conv3dOptions(in, out, kernelSize).padding(before == after ? before : 0)));
  }

  static torch::nn::Sequential makeRegression(const CosmoFlowOptions& options) {
    const std::int64_t edge = options.imageSize >> options.layers;
    const std::int64_t channels = options.channels << (options.layers - 1);
    return torch::nn::Sequential(torch::nn::Linear(channels * edge * edge * edge, 128),
                                 torch::nn::LeakyReLU(), torch::nn::Linear(128, 64),
                                 torch::nn::LeakyReLU(), torch::nn::Linear(64, kTargets));
  }
};
TORCH_MODULE(CosmoFlow);
