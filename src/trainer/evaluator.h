// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "steptape/data/batch_loader.h"
#include "steptape/distributed/distributed_writer.h"
#include "steptape/trainer/evaluation_metric.h"
#include "steptape/trainer/training_result.h"

#include "trainer/objective.h"

namespace torch::nn {
class Module;
}

namespace steptape::detail {

/// Judges the model by all ranks' test data.
///
/// Not thread-safe: one thread at a time, the communicator's.
class Evaluator {
 public:
  /// @throws Error(kInvalidArgument) naming a metric without name or function, or named twice.
  Evaluator(torch::nn::Module& module, std::shared_ptr<Communicator> world,
            std::vector<EvaluationMetric> metrics);

  /// The loss and each metric over the samples of all ranks, which see the same to the last bit.
  /// The module is then in the mode, training or not, in which it was. Collective.
  ///
  /// @throws Error(kInvalidArgument) on every rank naming a metric for which none had a sample.
  std::vector<MetricValue> evaluate(const Objective& objective, BatchLoader& test);

  /// Writes what evaluate() found as `<name>/test`. Collective.
  void log(DistributedWriter& writer, std::int64_t step) const;

 private:
  /// What this rank's samples add up to: the loss, then the metrics.
  std::vector<MetricSum> sumsOfOwnSamples(const Objective& objective, BatchLoader& test) const;
  std::vector<MetricValue> meansOverRanks() const;
  const std::string& nameOf(std::size_t sum) const;

  torch::nn::Module& module_;
  std::shared_ptr<Communicator> world_;
  std::vector<EvaluationMetric> metrics_;
  std::vector<MetricSum> sums_;
};

}  // namespace steptape::detail
