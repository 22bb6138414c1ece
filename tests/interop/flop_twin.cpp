// SPDX-License-Identifier: Apache-2.0
// Counts the operations of the models of flop_test.py.
#include <cmath>
#include <functional>
#include <iostream>

#include "steptape/libtorch/op_profiler.h"

#include "interop/training_program.h"

#include <torch/torch.h>

namespace steptape::test {
namespace {

torch::Tensor linear(const torch::Tensor& x, std::int64_t outputs) {
  return torch::nn::Linear(x.size(-1), outputs)->forward(x);
}

torch::Tensor mlp(const torch::Tensor& x) {
  return linear(torch::relu(linear(x, 30)), 10);
}

torch::Tensor convolutions(const torch::Tensor& x) {
  using torch::nn::Conv2d;
  using torch::nn::Conv2dOptions;
  using torch::nn::ConvTranspose2d;
  using torch::nn::ConvTranspose2dOptions;
  const torch::Tensor strided = Conv2d(Conv2dOptions(3, 8, 3).stride(2).padding(1))->forward(x);
  const torch::Tensor dilated =
      Conv2d(Conv2dOptions(8, 16, {3, 2}).dilation({1, 2}))->forward(torch::relu(strided));
  const torch::Tensor larger =
      ConvTranspose2d(ConvTranspose2dOptions(16, 4, 2).stride(2))->forward(dilated);
  return linear(larger.flatten(1), 10);
}

/// A block with two heads, made of matrix products.
torch::Tensor transformer(const torch::Tensor& x) {
  constexpr std::int64_t kHeads = 2;
  const std::int64_t width = x.size(2);
  const auto heads = [&](const torch::Tensor& all) {
    return all.view({x.size(0), x.size(1), kHeads, width / kHeads}).transpose(1, 2);
  };
  const torch::Tensor query = heads(linear(x, width));
  const torch::Tensor key = heads(linear(x, width));
  const torch::Tensor value = heads(linear(x, width));
  const double scale = 1 / std::sqrt(static_cast<double>(width / kHeads));
  const torch::Tensor weights =
      torch::softmax(torch::matmul(query, key.transpose(2, 3)) * scale, -1);
  const torch::Tensor mixed =
      torch::matmul(weights, value).transpose(1, 2).reshape({x.size(0), x.size(1), width});
  const torch::Tensor attended = x + linear(mixed, width);
  return attended + linear(torch::gelu(linear(attended, 4 * width)), width);
}

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
/// Fused, with as many queries as keys.
torch::Tensor attention(const torch::Tensor& x) {
  return at::scaled_dot_product_attention(x, 2 * x, 3 * x);
}
#endif

/// Prints "<name> <operations forward> <those of forward and backward>".
void print(const char* name, const std::function<torch::Tensor(const torch::Tensor&)>& model,
           const torch::Tensor& input) {
  const FlopCounter counter;
  const torch::Tensor output = model(input);
  std::cout << name << ' ' << counter.flops();
  output.sum().backward();
  std::cout << ' ' << counter.flops() << '\n';
}

}  // namespace

void countFlops() {
  print("mlp", mlp, torch::rand({7, 20}));
  print("convolutions", convolutions, torch::rand({5, 3, 17, 15}).requires_grad_());
  print("transformer", transformer, torch::rand({3, 6, 8}));
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
  print("attention", attention, torch::rand({3, 2, 6, 8}).requires_grad_());
#endif
}

}  // namespace steptape::test
