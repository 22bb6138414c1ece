// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <steptape/metrics/straggler_report.h>
#include <steptape/train/gradient_sync.h>

#include "benchmark.h"

#include <torch/torch.h>

namespace example {

/// Waits until the device has computed `tensor`.
void waitForDevice(const torch::Tensor& tensor);

/// Runs forward, backward, exchange and update, and times each of them.
class TrainingStep {
 public:
  /// Collective: all ranks start with the root's parameters.
  ///
  /// @param task Must outlive this object.
  TrainingStep(BenchmarkTask& task, const BenchmarkOptions& options, const World& world);

  /// Collective.
  ///
  /// @param synchronize Whether each part waits for the work that it has started on a GPU.
  /// @return the time of each part.
  steptape::StepTimes::Nanos run(bool synchronize = false);

  /// Returns the loss of this rank's latest batch.
  const torch::Tensor& loss() const { return loss_; }
  std::string describe() const { return sync_.describe(); }

 private:
  void countWaiting();

  BenchmarkTask& task_;
  torch::optim::SGD optimizer_;
  steptape::GradientSync sync_;
  steptape::StepTimes times_;
  torch::Tensor loss_;
  double waited_ = 0;
};

}  // namespace example
