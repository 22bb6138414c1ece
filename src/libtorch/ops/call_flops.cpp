// SPDX-License-Identifier: Apache-2.0
#include "libtorch/ops/call_flops.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <vector>

#include <ATen/core/Tensor.h>

namespace steptape::detail::libtorch {
namespace {

using Inputs = c10::ArrayRef<const c10::IValue>;
using Shape = std::vector<std::int64_t>;

/// Returns an empty shape if the input is not a tensor with a shape.
Shape shapeOf(Inputs inputs, std::size_t i) {
  if (i >= inputs.size() || !inputs[i].isTensor()) {
    return {};
  }
  const at::Tensor& tensor = inputs[i].toTensor();
  return tensor.defined() ? tensor.sizes().vec() : Shape();
}

double product(const Shape& shape, std::size_t from = 0) {
  double elements = 1.0;
  for (std::size_t i = from; i < shape.size(); ++i) {
    elements *= static_cast<double>(shape[i]);
  }
  return elements;
}

/// Counts a product of matrices, or of batches of matrices, at `first` and after it.
double matrixProduct(Inputs inputs, std::size_t first) {
  const Shape a = shapeOf(inputs, first);
  const Shape b = shapeOf(inputs, first + 1);
  if (a.empty() || b.empty() || a.size() > 3) {
    return 0.0;
  }
  const double columns = b.size() == 1 ? 1.0 : static_cast<double>(b.back());
  return 2.0 * product(a) * columns;
}

/// Counts multiplications and additions per element of a convolution's output, or of a transposed
/// convolution's input.
double perElement(const Shape& weight) {
  return 2.0 * product(weight, 1);
}

double convolution(Inputs inputs) {
  const Shape input = shapeOf(inputs, 0);
  const Shape weight = shapeOf(inputs, 1);
  constexpr std::size_t kArguments = 9;
  if (inputs.size() < kArguments || input.size() < 3 || weight.size() != input.size() ||
      !inputs[3].isIntList() || !inputs[4].isIntList() || !inputs[5].isIntList() ||
      !inputs[6].isBool()) {
    return 0.0;
  }
  if (inputs[6].toBool()) {
    return product(input) * perElement(weight);
  }
  const Shape stride = inputs[3].toIntVector();
  const Shape padding = inputs[4].toIntVector();
  const Shape dilation = inputs[5].toIntVector();
  double outputs = static_cast<double>(input[0]) * static_cast<double>(weight[0]);
  for (std::size_t i = 2; i < input.size(); ++i) {
    const auto of = [&](const Shape& values) {
      return values.empty() ? 1 : values[std::min(i - 2, values.size() - 1)];
    };
    const std::int64_t kernel = of(dilation) * (weight[i] - 1) + 1;
    const std::int64_t pad = padding.empty() ? 0 : of(padding);
    const std::int64_t places = (input[i] + 2 * pad - kernel) / of(stride) + 1;
    outputs *= static_cast<double>(places);
  }
  return outputs * perElement(weight);
}

/// The gradients of input and weight cost one convolution each; the gradient of the bias is
/// negligible.
double convolutionBackward(Inputs inputs) {
  constexpr std::size_t kArguments = 11;
  const Shape weight = shapeOf(inputs, 2);
  if (inputs.size() < kArguments || weight.empty() || !inputs[7].isBool() ||
      !inputs[10].isBoolList()) {
    return 0.0;
  }
  const c10::List<bool> wanted = inputs[10].toBoolList();
  const double gradients = (wanted.get(0) ? 1.0 : 0.0) + (wanted.get(1) ? 1.0 : 0.0);
  const Shape moved = shapeOf(inputs, inputs[7].toBool() ? 1 : 0);
  return gradients * product(moved) * perElement(weight);
}

/// Products of matrices over all pairs of a query and a key, whose query is input `first`: so many
/// along the features of queries and keys, and so many along those of values.
double attentionProducts(Inputs inputs, std::size_t first, std::int64_t alongKeys,
                         std::int64_t alongValues) {
  const Shape query = shapeOf(inputs, first);
  const Shape key = shapeOf(inputs, first + 1);
  const Shape value = shapeOf(inputs, first + 2);
  if (query.size() != 4 || key.size() != 4 || value.size() != 4) {
    return 0.0;
  }
  const double keys = static_cast<double>(key[2]);
  const double queries = product({query[0], query[1], query[2]});
  return 2.0 * queries * keys * static_cast<double>(alongKeys * query[3] + alongValues * value[3]);
}

/// Scores of all pairs, and the sums of the values that they weight.
double attention(Inputs inputs) {
  return attentionProducts(inputs, 0, 1, 1);
}

/// The scores again, and the gradients of scores, values, queries and keys.
double attentionBackward(Inputs inputs) {
  return attentionProducts(inputs, 1, 3, 2);
}

}  // namespace

double callFlops(std::string_view name, Inputs inputs) {
  using Formula = std::function<double(Inputs)>;
  const auto factors = [](std::size_t first) {
    return [first](Inputs arguments) { return matrixProduct(arguments, first); };
  };
  static const std::unordered_map<std::string_view, Formula> kFormulas{
      {"aten::mm", factors(0)},
      {"aten::bmm", factors(0)},
      {"aten::mv", factors(0)},
      {"aten::dot", factors(0)},
      {"aten::addmm", factors(1)},
      {"aten::addmm_", factors(1)},
      {"aten::baddbmm", factors(1)},
      {"aten::baddbmm_", factors(1)},
      {"aten::addmv", factors(1)},
      {"aten::addmv_", factors(1)},
      {"aten::convolution", convolution},
      {"aten::convolution_backward", convolutionBackward},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", attention},
      {"aten::_scaled_dot_product_flash_attention", attention},
      {"aten::_scaled_dot_product_efficient_attention", attention},
      {"aten::_scaled_dot_product_cudnn_attention", attention},
      {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", attentionBackward},
      {"aten::_scaled_dot_product_flash_attention_backward", attentionBackward},
      {"aten::_scaled_dot_product_efficient_attention_backward", attentionBackward},
      {"aten::_scaled_dot_product_cudnn_attention_backward", attentionBackward},
  };
  const auto formula = kFormulas.find(name);
  return formula == kFormulas.end() ? 0.0 : formula->second(inputs);
}

}  // namespace steptape::detail::libtorch
