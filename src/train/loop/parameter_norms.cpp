// SPDX-License-Identifier: Apache-2.0
#include "train/loop/parameter_norms.h"

#include <cmath>

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>
#include <torch/nn/module.h>

namespace steptape::detail::train {
namespace {

/// What holds the numbers of a tensor, in a type in which their squares can be summed.
at::Tensor summable(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.is_sparse() ? tensor.coalesce().values() : tensor;
  const at::ScalarType type = dense.scalar_type();
  return type == at::kHalf || type == at::kBFloat16 ? dense.to(at::kFloat) : dense;
}

/// The norms of all tensors, in their order, on the device of the first.
at::Tensor normsOf(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> norms = at::_foreach_norm(tensors, 2);
  for (at::Tensor& norm : norms) {
    norm = norm.to(norms.front().device(), /*non_blocking=*/true);
  }
  return at::stack(norms);
}

libtorch::DeviceCopier::Copy toMainMemory(const at::Tensor& tensor) {
  const libtorch::DeviceCopier& copier = libtorch::DeviceCopier::current();
  return copier.canCopy(tensor) ? copier.copy(tensor)
                                : libtorch::DeviceCopier::Copy{tensor.cpu(), nullptr};
}

}  // namespace

RequestedNorms::RequestedNorms(const torch::nn::Module& module) {
  const at::NoGradGuard noGradients;
  std::vector<at::Tensor> tensors;
  for (const auto& parameter : module.named_parameters()) {
    norms_.parameters.push_back({parameter.key(), 0});
    tensors.push_back(summable(parameter.value()));
  }
  for (const auto& parameter : module.named_parameters()) {
    if (parameter.value().grad().defined()) {
      norms_.gradients.push_back({parameter.key(), 0});
      tensors.push_back(summable(parameter.value().grad()));
    }
  }
  if (!tensors.empty()) {
    values_ = toMainMemory(normsOf(tensors));
  }
}

ParameterNorms RequestedNorms::take() {
  if (values_) {
    if (values_->arrival) {
      values_->arrival->wait();
    }
    const at::Tensor values = values_->host.to(at::kDouble);
    const double* value = values.data_ptr<double>();
    for (std::vector<MetricValue>* list : {&norms_.parameters, &norms_.gradients}) {
      for (MetricValue& norm : *list) {
        norm.value = *value++;
      }
    }
  }
  return std::move(norms_);
}

double totalNorm(const std::vector<MetricValue>& norms) {
  double squares = 0;
  for (const MetricValue& norm : norms) {
    squares += norm.value * norm.value;
  }
  return std::sqrt(squares);
}

}  // namespace steptape::detail::train
