// SPDX-License-Identifier: Apache-2.0
#include "train/loop/loss_scaler.h"

#include <string>

#include "steptape/base/status.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/stack.h>

namespace steptape::detail::train {
namespace {

void check(bool isFine, const char* option, double got, const char* wanted) {
  if (!isFine) {
    throw Error(ErrorCode::kInvalidArgument, std::string("LossScaleOptions::") + option + ": got " +
                                                 std::to_string(got) + "; expected " + wanted);
  }
}

/// Returns the tensor with a gradient's numbers: the gradient, or the values of a sparse one.
at::Tensor valuesOf(const at::Tensor& gradient) {
  return gradient.is_sparse() ? gradient._values() : gradient;
}

}  // namespace

LossScaler::LossScaler(const LossScaleOptions& options)
    : options_(options), scale_(options.initial) {
  check(options.initial > 0, "initial", options.initial, "a positive number");
  check(options.growthFactor >= 1, "growthFactor", options.growthFactor, "at least 1");
  check(options.backoffFactor > 0 && options.backoffFactor < 1, "backoffFactor",
        options.backoffFactor, "a number between 0 and 1");
  check(options.growthSteps > 0, "growthSteps", static_cast<double>(options.growthSteps),
        "at least 1");
}

bool LossScaler::unscale(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> finite;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) {
      at::Tensor values = valuesOf(parameter.grad()).detach();
      values.mul_(1 / scale_);
      finite.push_back(at::isfinite(values).all());
    }
  }
  // One synchronization with the device for all of them.
  if (finite.empty() || at::stack(finite).all().item<bool>()) {
    if (++stepsSinceInfinity_ == options_.growthSteps) {
      scale_ *= options_.growthFactor;
      stepsSinceInfinity_ = 0;
    }
    return true;
  }
  scale_ *= options_.backoffFactor;
  stepsSinceInfinity_ = 0;
  return false;
}

}  // namespace steptape::detail::train
