// SPDX-License-Identifier: Apache-2.0
#pragma once

// Models for the tests of graphs.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "steptape/process/zone.h"

#include <torch/torch.h>

namespace steptape {

using Tensors = std::map<std::string, torch::Tensor>;

/// Two convolutions, two linear layers.
struct LeNet : torch::nn::Module {
  torch::nn::Conv2d conv1{register_module("conv1", torch::nn::Conv2d(1, 6, 5))};
  torch::nn::Conv2d conv2{register_module("conv2", torch::nn::Conv2d(6, 16, 5))};
  torch::nn::Linear fc1{register_module("fc1", torch::nn::Linear(256, 84))};
  torch::nn::Linear fc2{register_module("fc2", torch::nn::Linear(84, 10))};

  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1->forward(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2->forward(x)), 2);
    x = torch::relu(fc1->forward(x.flatten(1)));
    return torch::log_softmax(fc2->forward(x), 1);
  }
};

/// A residual block.
struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(std::int64_t channels)
      : conv1(register_module("conv1", convolution(channels))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(channels))),
        conv2(register_module("conv2", convolution(channels))),
        bn2(register_module("bn2", torch::nn::BatchNorm2d(channels))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = torch::relu(bn1->forward(conv1->forward(x)));
    y = bn2->forward(conv2->forward(y));
    return torch::relu(x + y);
  }

  static torch::nn::Conv2d convolution(std::int64_t channels) {
    return torch::nn::Conv2d(
        torch::nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
};
TORCH_MODULE(Block);

/// A stem, two equal residual blocks in a Sequential, dropout, a linear head.
struct ResNetImpl : torch::nn::Module {
  torch::nn::Conv2d stem{register_module("stem", torch::nn::Conv2d(3, 8, 3))};
  torch::nn::Sequential blocks{
      register_module("blocks", torch::nn::Sequential(Block(8), Block(8)))};
  torch::nn::Dropout dropout{register_module("dropout", torch::nn::Dropout(0.5))};
  torch::nn::Linear head{register_module("head", torch::nn::Linear(8, 4))};

  torch::Tensor forward(torch::Tensor x) {
    x = blocks->forward(torch::relu(stem->forward(x)));
    x = torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    return head->forward(dropout->forward(x));
  }
};
TORCH_MODULE(ResNet);

/// Takes two tensors, returns a tuple.
struct TwoInputs : torch::nn::Module {
  torch::nn::Bilinear bilinear{register_module("bilinear", torch::nn::Bilinear(3, 4, 2))};

  std::tuple<torch::Tensor, std::vector<torch::Tensor>> forward(const torch::Tensor& a,
                                                                const torch::Tensor& b) {
    return {bilinear->forward(a, b), torch::chunk(a, 3, 1)};
  }
};

/// Takes a dictionary, returns one.
struct Dictionaries : torch::nn::Module {
  torch::nn::Linear fc{register_module("fc", torch::nn::Linear(3, 2))};

  Tensors forward(const Tensors& inputs) {
    const torch::Tensor scores = fc->forward(inputs.at("image")) * inputs.at("mask");
    return {{"scores", scores}, {"best", scores.argmax(1)}};
  }
};

/// Calls one layer `times` times.
struct Loop : torch::nn::Module {
  explicit Loop(int count) : times(count) {}

  torch::nn::Linear cell{register_module("cell", torch::nn::Linear(3, 3))};
  int times;

  torch::Tensor forward(torch::Tensor x) {
    for (int i = 0; i < times; ++i) {
      x = torch::tanh(cell->forward(x));
    }
    return x;
  }
};

/// Self-attention, with a zone around operators without parameters, and one around everything after
/// them.
struct Attention : torch::nn::Module {
  torch::nn::Linear query{register_module("query", torch::nn::Linear(8, 8))};
  torch::nn::Linear key{register_module("key", torch::nn::Linear(8, 8))};
  torch::nn::Linear value{register_module("value", torch::nn::Linear(8, 8))};
  torch::nn::Linear hidden{register_module("hidden", torch::nn::Linear(8, 8))};
  torch::nn::Linear out{register_module("out", torch::nn::Linear(8, 8))};

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor q = query->forward(x);
    const torch::Tensor k = key->forward(x);
    const torch::Tensor v = value->forward(x);
    torch::Tensor y;
    {
      STEPTAPE_ZONE("attention");
      y = torch::matmul(torch::softmax(torch::matmul(q, k.transpose(-2, -1)), -1), v);
    }
    STEPTAPE_ZONE("feed forward");
    return out->forward(torch::relu(hidden->forward(y)));
  }
};

/// A residual block that names its parts.
struct ZonedBlockImpl : BlockImpl {
  using BlockImpl::BlockImpl;

  torch::Tensor forward(const torch::Tensor& x) {
    STEPTAPE_ZONE("block");
    return BlockImpl::forward(x);
  }
};
TORCH_MODULE(ZonedBlock);

/// Fails for every input.
struct Failing : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor&) { throw std::runtime_error("out of luck"); }
};

}  // namespace steptape
