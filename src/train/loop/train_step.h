// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/metrics/straggler_report.h"
#include "steptape/train/gradient_sync.h"
#include "steptape/train/trainer_options.h"

#include "train/loop/loss_scaler.h"
#include "train/loop/objective.h"
#include "train/loop/step_loss.h"

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

namespace steptape::detail::train {

/// One training step: forward, backward, exchange of the gradients, optimizer.
///
///     step.begin();
///     for each batch of the step:  step.learn(batch);  step.exchange();
///
/// Not thread-safe: only the communicator's thread, one at a time.
class TrainStep {
 public:
  /// Collective. @throws as GradientSync and Objective.
  TrainStep(torch::nn::Module& module, torch::optim::Optimizer& optimizer,
            std::shared_ptr<Communicator> world, const TrainerOptions& options,
            StragglerReport& times);

  /// Clears the gradients of the previous step.
  void begin();
  /// As GradientSync::join(), for a step.
  bool join(bool hasData) { return sync_.join(hasData); }
  /// Adds this batch's gradients to those of the step.
  void learn(const Objective& objective, const Batch& batch);
  /// Call it after each batch of the step; the last call updates the parameters.
  void exchange();
  /// Returns whether the gradients remain readable after the step. The same on every rank.
  void setKeepGradients(bool keep) { sync_.setKeepGradients(keep); }

  /// Of the step since begin().
  std::shared_ptr<const StepLoss> loss() const { return loss_; }
  /// Of the latest exchange, before they were clipped; NaN if nothing clips them. Waits for a
  /// device.
  double gradientNorm() const;
  /// The factor by which the averaged gradients were multiplied to limit their norm.
  double clipFactor() const;
  /// 0 if the loss is not scaled.
  double lossScale() const { return scaler_ ? scaler_->scale() : 0; }
  const GradientSync& sync() const { return sync_; }

  /// Values by name that a checkpoint must contain besides module and optimizer.
  void saveTo(std::map<std::string, double>& values) const;
  void restoreFrom(const std::map<std::string, double>& values);

 private:
  /// Counts the time that GradientSync has waited since `secondsBefore` as waiting.
  void noteWait(double secondsBefore);
  void stepScaled();

  StragglerReport& times_;
  torch::optim::Optimizer& optimizer_;
  std::vector<at::Tensor> parameters_;
  double maxNorm_;
  std::optional<LossScaler> scaler_;
  GradientSync sync_;
  std::shared_ptr<StepLoss> loss_;
  double scaledNorm_;  ///< Of the unscaled gradients, if the loss is scaled.
};

}  // namespace steptape::detail::train
