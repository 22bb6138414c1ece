// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "steptape/base/export.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// Result of a metric for one batch. Sums and counts of all batches and ranks are added; the metric
/// is sum / count, a mean weighted by the counts.
struct MetricSum {
  double sum = 0;
  double count = 0;  ///< Such as the number of samples; at least 0.
};

/// A metric by which a Trainer evaluates the model, in addition to the loss.
///
///     options.metrics = {steptape::accuracyMetric()};           // of a classifier
///     options.metrics = {steptape::meanAbsoluteErrorMetric()};  // of a regression
///
///     steptape::EvaluationMetric error;  // a metric of your own
///     error.name = "squared_error";
///     error.higherIsBetter = false;
///     error.function = [](const at::Tensor& output, const at::Tensor& targets) {
///       const at::Tensor errors = (output - targets).square();
///       return steptape::MetricSum{errors.sum().item<double>(),
///                                  static_cast<double>(errors.numel())};
///     };
///     options.metrics.push_back(error);
struct EvaluationMetric {
  /// Logged as `<name>/test`. Must not be "loss", which is always logged.
  std::string name;
  /// Called for each batch, without gradients, with the model's output and the batch's targets.
  std::function<MetricSum(const at::Tensor& output, const at::Tensor& targets)> function;
  bool higherIsBetter = true;
};

/// Returns "accuracy": the fraction of samples whose largest output is at the index of their class.
///
/// @shape  `output`: (n, classes). `targets`: (n), the class numbers.
STEPTAPE_EXPORT EvaluationMetric accuracyMetric();

/// Returns "mean_absolute_error": the mean of |output - target| over all elements.
///
/// @shape  `output` and `targets` have the same shape. Otherwise fit() throws
///         Error(kInvalidArgument), since (n, 1) and (n) would broadcast to (n, n).
STEPTAPE_EXPORT EvaluationMetric meanAbsoluteErrorMetric();

}  // namespace steptape
