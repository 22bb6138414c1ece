// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/gradients/norm_limit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "train/replicas/gradients/current_stream.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

namespace steptape::detail::train {
namespace {

constexpr double kEpsilon = 1e-6;

at::Tensor normOf(const at::Tensor& gradient) {
  return (gradient.is_sparse() ? gradient.coalesce().values() : gradient).norm();
}

}  // namespace

double sumOfSquares(const std::vector<at::Tensor>& gradients, Communicator& world) {
  double total = 0;
  if (!gradients.empty() && !gradients.front().is_cpu()) {
    total = deviceSumOfSquares(gradients).item<double>();
  } else {
    for (const at::Tensor& gradient : gradients) {
      const double norm = normOf(gradient).item<double>();
      total += norm * norm;
    }
  }
  world.broadcast(&total, sizeof(total), 0);
  return total;
}

at::Tensor deviceSumOfSquares(const std::vector<at::Tensor>& gradients) {
  const c10::Device device = gradients.front().device();
  std::vector<at::Tensor> norms;
  norms.reserve(gradients.size());
  for (const at::Tensor& gradient : gradients) {
    norms.push_back(normOf(gradient.detach()).to(device, at::kDouble, /*non_blocking=*/true));
  }
  return at::stack(norms).square().sum();
}

double NormLimit::norm() const {
  if (arrival_) {
    while (!arrival_->query()) {  // Before 2.4, LibTorch cannot wait for an event of any device.
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    arrival_.reset();
    norm_ = *arriving_.data_ptr<double>();
  }
  return norm_;
}

double NormLimit::factorFor(double sumOfSquares) {
  norm_ = std::sqrt(sumOfSquares);
  return std::min(1.0, maxNorm_ / (norm_ + kEpsilon));
}

at::Tensor NormLimit::factorFor(const at::Tensor& sumOfSquares) {
  const c10::Device device = sumOfSquares.device();
  const at::Tensor norm = sumOfSquares.sqrt();
  // Only a copy to page-locked memory is asynchronous. New memory: the last norm may not be there.
  arriving_ = at::empty({}, at::TensorOptions(at::kDouble).pinned_memory(device.is_cuda()));
  arriving_.copy_(norm, /*non_blocking=*/true);
  arrival_.emplace(device.type());
  arrival_->record(currentStream(device));
  return (maxNorm_ / (norm + kEpsilon)).clamp_max_(1.0);
}

void multiply(const std::vector<at::Tensor>& gradients, double factor) {
  if (factor == 1) {
    return;
  }
  for (const at::Tensor& gradient : gradients) {
    gradient.mul_(factor);
  }
}

void multiply(const std::vector<at::Tensor>& gradients, const at::Tensor& factor) {
  for (const at::Tensor& gradient : gradients) {
    gradient.mul_(gradient.device() == factor.device()
                      ? factor
                      : factor.to(gradient.device(), /*non_blocking=*/true));
  }
}

}  // namespace steptape::detail::train
