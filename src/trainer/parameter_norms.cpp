// SPDX-License-Identifier: Apache-2.0
#include "trainer/parameter_norms.h"

#include <cmath>

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>
#include <torch/nn/module.h>

namespace steptape::detail {
namespace {

/// What holds the numbers of a tensor, in a type in which their squares can be summed.
at::Tensor summable(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.is_sparse() ? tensor.coalesce().values() : tensor;
  const at::ScalarType type = dense.scalar_type();
  return type == at::kHalf || type == at::kBFloat16 ? dense.to(at::kFloat) : dense;
}

/// The norms of all tensors, in their order.
at::Tensor normsOf(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> norms = at::_foreach_norm(tensors, 2);
  for (at::Tensor& norm : norms) {
    norm = norm.to(norms.front().device());
  }
  return at::stack(norms).to(at::kCPU, at::kDouble);
}

}  // namespace

ParameterNorms parameterNorms(const torch::nn::Module& module) {
  const at::NoGradGuard noGradients;
  ParameterNorms norms;
  std::vector<at::Tensor> tensors;
  for (const auto& parameter : module.named_parameters()) {
    norms.parameters.push_back({parameter.key(), 0});
    tensors.push_back(summable(parameter.value()));
  }
  for (const auto& parameter : module.named_parameters()) {
    if (parameter.value().grad().defined()) {
      norms.gradients.push_back({parameter.key(), 0});
      tensors.push_back(summable(parameter.value().grad()));
    }
  }
  if (tensors.empty()) {
    return norms;
  }
  const at::Tensor values = normsOf(tensors);
  const double* value = values.data_ptr<double>();
  for (std::vector<MetricValue>* list : {&norms.parameters, &norms.gradients}) {
    for (MetricValue& norm : *list) {
      norm.value = *value++;
    }
  }
  return norms;
}

double totalNorm(const std::vector<MetricValue>& norms) {
  double squares = 0;
  for (const MetricValue& norm : norms) {
    squares += norm.value * norm.value;
  }
  return std::sqrt(squares);
}

}  // namespace steptape::detail
