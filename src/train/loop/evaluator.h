// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "steptape/metrics/distributed_writer.h"
#include "steptape/train/batch_loader.h"
#include "steptape/train/trainer_options.h"

#include "train/loop/objective.h"

namespace torch::nn {
class Module;
}

namespace steptape::detail::train {

/// Evaluates the model with all ranks' test data.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class Evaluator {
 public:
  /// @throws Error(kInvalidArgument) with a metric that has no name or no function, or whose name
  ///         is repeated.
  Evaluator(torch::nn::Module& module, std::shared_ptr<Communicator> world,
            std::vector<EvaluationMetric> metrics);

  /// Returns the loss and each metric over the samples of all ranks, bit-identical on all ranks.
  /// Restores the module's training mode. Collective.
  ///
  /// @throws Error(kInvalidArgument) on every rank with a metric for which no rank had a sample.
  std::vector<MetricValue> evaluate(const Objective& objective, BatchLoader& test);

  /// Writes the results of evaluate() as `<name>/test`. Collective.
  void log(DistributedWriter& writer, std::int64_t step) const;

 private:
  /// Returns the sums over this rank's samples: the loss, then the metrics.
  std::vector<MetricSum> sumsOfOwnSamples(const Objective& objective, BatchLoader& test) const;
  std::vector<MetricValue> meansOverRanks() const;
  const std::string& nameOf(std::size_t sum) const;

  torch::nn::Module& module_;
  std::shared_ptr<Communicator> world_;
  std::vector<EvaluationMetric> metrics_;
  std::vector<MetricSum> sums_;
};

}  // namespace steptape::detail::train
