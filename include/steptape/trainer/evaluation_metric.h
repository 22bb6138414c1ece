// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "steptape/base/export.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// What a metric found in one batch. Over batches and ranks both are added up, and the metric is
/// sum / count: a mean that is weighted by what each batch and each rank had.
struct MetricSum {
  double sum = 0;
  double count = 0;  ///< Such as the number of samples; 0 or more.
};

/// Something by which a Trainer judges the model, besides the loss.
///
///     options.metrics = {steptape::accuracyMetric()};           // of a classifier
///     options.metrics = {steptape::meanAbsoluteErrorMetric()};  // of a regression
///
///     steptape::EvaluationMetric error;  // one's own
///     error.name = "squared_error";
///     error.higherIsBetter = false;
///     error.function = [](const at::Tensor& output, const at::Tensor& targets) {
///       const at::Tensor errors = (output - targets).square();
///       return steptape::MetricSum{errors.sum().item<double>(),
///                                  static_cast<double>(errors.numel())};
///     };
///     options.metrics.push_back(error);
struct EvaluationMetric {
  /// Logged as `<name>/test`. Not "loss", which is there anyway.
  std::string name;
  /// Called for each batch, without gradients, with what the model made of it and what was wanted.
  std::function<MetricSum(const at::Tensor& output, const at::Tensor& targets)> function;
  bool higherIsBetter = true;
};

/// "accuracy": the fraction of samples whose largest output is that of their class.
///
/// @shape `output`: (n, classes). `targets`: (n), the numbers of the classes.
STEPTAPE_EXPORT EvaluationMetric accuracyMetric();

/// "mean_absolute_error": how far the output is from the targets, element by element.
///
/// @shape `output` and `targets`: the same. Otherwise fit() throws Error(kInvalidArgument), since
///        (n, 1) and (n) would be compared each with each.
STEPTAPE_EXPORT EvaluationMetric meanAbsoluteErrorMetric();

}  // namespace steptape
