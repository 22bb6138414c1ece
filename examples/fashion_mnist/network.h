// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include <torch/torch.h>

/// A network that classifies images of 28 x 28 pixels into ten classes.
struct Classifier : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& images) { return classify(features(images)); }

  /// The input of the last layer: (n, 1, 28, 28) -> (n, width of that layer).
  virtual torch::Tensor features(const torch::Tensor& images) = 0;
  /// The log-probabilities of the classes, (n, 10).
  virtual torch::Tensor classify(const torch::Tensor& features) = 0;
};

/// The network of the well-known MNIST examples: two convolutions, two fully connected layers.
///
///     (n, 1, 28, 28) -> conv 5x5 -> pool -> relu -> conv 5x5 -> dropout -> pool -> relu
///                    -> fc 320:50 -> relu -> dropout -> fc 50:10 -> log-probabilities (n, 10)
struct NetworkImpl final : Classifier {
  NetworkImpl()
      : conv1(register_module("conv1", torch::nn::Conv2d(1, 10, 5))),
        conv2(register_module("conv2", torch::nn::Conv2d(10, 20, 5))),
        fc1(register_module("fc1", torch::nn::Linear(320, 50))),
        fc2(register_module("fc2", torch::nn::Linear(50, 10))) {}

  torch::Tensor features(const torch::Tensor& images) override {
    torch::Tensor x = torch::relu(torch::max_pool2d(conv1->forward(images), 2));
    x = torch::feature_dropout(conv2->forward(x), 0.5, is_training());
    x = torch::relu(torch::max_pool2d(x, 2));
    x = torch::relu(fc1->forward(x.view({-1, 320})));
    return torch::dropout(x, 0.5, is_training());
  }

  torch::Tensor classify(const torch::Tensor& features) override {
    return torch::log_softmax(fc2->forward(features), 1);
  }

  torch::nn::Conv2d conv1;
  torch::nn::Conv2d conv2;
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};
TORCH_MODULE(Network);

/// A perceptron with one hidden layer: many parameters for few operations.
///
///     (n, 1, 28, 28) -> fc 784:256 -> relu -> fc 256:10 -> log-probabilities (n, 10)
struct Perceptron final : Classifier {
  Perceptron()
      : fc1(register_module("fc1", torch::nn::Linear(784, 256))),
        fc2(register_module("fc2", torch::nn::Linear(256, 10))) {}

  torch::Tensor features(const torch::Tensor& images) override {
    return torch::relu(fc1->forward(images.view({-1, 784})));
  }

  torch::Tensor classify(const torch::Tensor& features) override {
    return torch::log_softmax(fc2->forward(features), 1);
  }

  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};

/// @param name "cnn" for Network or "mlp" for Perceptron.
/// @throws std::invalid_argument for another name.
inline std::shared_ptr<Classifier> makeClassifier(const std::string& name) {
  if (name == "cnn") {
    return std::make_shared<NetworkImpl>();
  }
  if (name == "mlp") {
    return std::make_shared<Perceptron>();
  }
  throw std::invalid_argument("network: got '" + name + "'; expected cnn or mlp");
}
