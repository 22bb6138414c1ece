// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/distributed/straggler_report.h"
#include "steptape/parallel/gradient_sync.h"
#include "steptape/trainer/trainer_options.h"

#include "trainer/loss_scaler.h"
#include "trainer/objective.h"

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

namespace steptape::detail {

/// What makes the model better: forward, backward, exchange of the gradients, the optimizer's step.
///
///     step.begin();
///     for each batch of the step:  step.learn(batch);  step.exchange();
///
/// Not thread-safe: one thread at a time, the communicator's.
class TrainStep {
 public:
  /// Collective. @throws as GradientSync and Objective.
  TrainStep(torch::nn::Module& module, torch::optim::Optimizer& optimizer,
            std::shared_ptr<Communicator> world, const TrainerOptions& options,
            StragglerReport& times);

  /// Forgets the gradients of the step before.
  void begin();
  /// As GradientSync::join(), for a step.
  bool join(bool hasData) { return sync_.join(hasData); }
  /// Adds this batch's gradients to those of the step.
  void learn(const Objective& objective, const Batch& batch);
  /// Behind each batch of the step; the last one makes the step.
  void exchange();
  /// Whether the step leaves its gradients for who wants to look at them. The same on every rank.
  void setKeepGradients(bool keep) { sync_.setKeepGradients(keep); }

  /// The mean of the losses of this step's batches; NaN without any.
  double loss() const;
  /// Before they were clipped; NaN if nothing clips them.
  double gradientNorm() const;
  /// What the averaged gradients were multiplied with to limit their norm.
  double clipFactor() const;
  /// 0 if the loss is not scaled.
  double lossScale() const { return scaler_ ? scaler_->scale() : 0; }
  const GradientSync& sync() const { return sync_; }

  /// What a checkpoint must keep besides module and optimizer, by name.
  void saveTo(std::map<std::string, double>& values) const;
  void restoreFrom(const std::map<std::string, double>& values);

 private:
  /// Counts what GradientSync has waited since `secondsBefore` as waiting.
  void noteWait(double secondsBefore);
  void stepScaled();

  StragglerReport& times_;
  torch::optim::Optimizer& optimizer_;
  std::vector<at::Tensor> parameters_;
  double maxNorm_;
  std::optional<LossScaler> scaler_;
  GradientSync sync_;
  double lossSum_ = 0;
  std::int64_t batches_ = 0;
  double scaledNorm_;  ///< Of unscaled gradients, where the loss is scaled.
};

}  // namespace steptape::detail
