// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape::test {

using World = std::shared_ptr<Communicator>;

/// Two layers whose weights a seed decides.
struct SeededNetImpl : torch::nn::Module {
  explicit SeededNetImpl(double seed, std::int64_t inputs = 3) {
    const torch::NoGradGuard noGradients;
    first = register_module("first", torch::nn::Linear(inputs, 5));
    second = register_module("second", torch::nn::Linear(5, 2));
    double next = seed;
    for (at::Tensor& parameter : parameters()) {
      parameter.copy_(torch::sin(torch::arange(parameter.numel()) * 0.7 + next)
                          .view(parameter.sizes())
                          .to(torch::kFloat));
      next += 1;
    }
  }
  at::Tensor forward(const at::Tensor& x) { return second(torch::tanh(first(x))); }

  torch::nn::Linear first = nullptr;
  torch::nn::Linear second = nullptr;
};
TORCH_MODULE(SeededNet);

/// Returns four samples of `rank` at `step`; those of all ranks together are the samples of one
/// process.
inline at::Tensor batchOf(std::int64_t rank, std::int64_t step = 0) {
  constexpr std::int64_t kBatch = 4;
  return torch::cos(torch::arange(kBatch * 3).to(torch::kFloat) * 0.3 +
                    static_cast<double>(rank * 7 + step))
      .view({kBatch, 3});
}

inline at::Tensor batchOfAll(int ranks, std::int64_t step = 0) {
  std::vector<at::Tensor> samples;
  for (int rank = 0; rank < ranks; ++rank) {
    samples.push_back(batchOf(rank, step));
  }
  return torch::cat(samples);
}

inline at::Tensor lossOf(SeededNet net, const at::Tensor& samples) {
  return net->forward(samples).pow(2).mean();
}

inline std::vector<at::Tensor> copiesOf(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(tensor.detach().clone());
  }
  return copies;
}

inline std::vector<at::Tensor> gradientsOf(const SeededNet& net) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : net->parameters()) {
    gradients.push_back(parameter.grad().detach().clone());
  }
  return gradients;
}

inline void expectAllClose(const std::vector<at::Tensor>& got,
                           const std::vector<at::Tensor>& wanted, double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(torch::allclose(got[i], wanted[i], 1e-5, tolerance)) << "tensor " << i << ": got\n"
                                                                     << got[i] << "\nwanted\n"
                                                                     << wanted[i];
  }
}

}  // namespace steptape::test
