// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/trainer/training_result.h"

namespace torch::nn {
class Module;
}

namespace steptape::detail {

/// Euclidean norms of a model's parameters, and of their gradients where they have any.
struct ParameterNorms {
  std::vector<MetricValue> parameters;
  std::vector<MetricValue> gradients;
};

/// Waits for the device once.
ParameterNorms parameterNorms(const torch::nn::Module& module);

/// The norm of everything together.
double totalNorm(const std::vector<MetricValue>& norms);

}  // namespace steptape::detail
