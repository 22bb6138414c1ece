// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "steptape/train/trainer_options.h"

#include "libtorch/tensors/device_copy.h"

namespace torch::nn {
class Module;
}

namespace steptape::detail::train {

/// Euclidean norms of a model's parameters, and of their gradients where they have any.
struct ParameterNorms {
  std::vector<MetricValue> parameters;
  std::vector<MetricValue> gradients;
};

/// Norms of the values that a model has when they are requested, on their way from a device.
///
/// Not thread-safe: one thread at a time.
class RequestedNorms {
 public:
  /// Does not wait for a device.
  explicit RequestedNorms(const torch::nn::Module& module);

  /// Waits until a device has computed them. Call it once.
  ParameterNorms take();

 private:
  ParameterNorms norms_;  // without values
  std::optional<libtorch::DeviceCopier::Copy> values_;
};

/// The norm of everything together.
double totalNorm(const std::vector<MetricValue>& norms);

}  // namespace steptape::detail::train
