// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/collective.h"
#include "steptape/train/checkpoint.h"
#include "steptape/train/trainer_options.h"

#include "train/loop/parameter_norms.h"
#include "train/loop/progress_report.h"
#include "train/loop/stopwatch.h"

namespace torch::nn {
class Module;
}

namespace steptape::detail::train {

/// Logs the steps of a Trainer. Evaluations log their own values.
///
/// Not thread-safe: one thread at a time.
class StepLog {
 public:
  /// The values of one step.
  struct Values {
    double loss = 0;            ///< This rank's.
    MetricMoments lossOfRanks;  ///< All ranks'.
    double learningRate = 0;
    double gradientNorm = 0;  ///< NaN: unknown.
    double clipFactor = 1;    ///< By which the gradients were multiplied.
    double lossScale = 0;     ///< 0: not scaled.
  };

  StepLog(DistributedWriter& writer, const TrainerOptions& options);

  void step(const Values& values, std::int64_t step);
  void throughput(const Throughput& speed, std::int64_t step);
  void epoch(const EpochStatus& status, std::int64_t step);
  void checkpoint(const CheckpointTimes& times);
  void histograms(const torch::nn::Module& module, std::int64_t step);
  /// Returns the norms of this step for norms(); none if they would not be logged.
  std::optional<RequestedNorms> requestNorms(const torch::nn::Module& module);
  /// Norms of the parameters, and of their gradients before the multiplication with `clipFactor`.
  void norms(const ParameterNorms& norms, double clipFactor, std::int64_t step);

  /// Counts the time of a scope as logging.
  Stopwatch& time() { return time_; }

 private:
  /// The tags of `loss/train` in one run.
  struct LossTags {
    explicit LossTags(SummaryWriter& run);
    ScalarTag mean, min, max;
  };

  DistributedWriter& writer_;
  SummaryWriter& job_;
  bool reducesLoss_;
  bool ranksHaveRuns_;  ///< In addition to the job's.
  bool writesDetail_;
  bool clips_;  ///< Every step has the norm of the gradients.
  ScalarTag ownLoss_;
  LossTags loss_;
  ScalarTag learningRate_;
  ScalarTag gradientNorm_;
  ScalarTag lossScale_;
  Stopwatch time_;
};

}  // namespace steptape::detail::train
