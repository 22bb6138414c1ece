// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/train/trainer_callback.h"

namespace steptape {

/// Options of ExponentialMovingAverage. Must be equal on all ranks.
struct ExponentialMovingAverageOptions {
  /// Weight of the previous average in an update, from 0 to less than 1: about the last
  /// 1 / (1 - decay) updates count.
  double decay = 0.999;
  /// Use min(decay, (1 + n) / (10 + n)) in update n, counted from 0, so that the initial parameters
  /// are soon forgotten.
  bool warmUp = true;
  std::int64_t everySteps = 1;  ///< Number of the optimizer's steps between updates.
  /// Evaluate the averages instead of the trained parameters. At most one average of a run may.
  bool evaluate = true;
  /// Its name in checkpoints. Several averages of a run need different ones.
  std::string name = "moving average";
};

/// Keeps an exponential moving average (EMA) of a model's parameters during Trainer::fit(), which
/// often generalizes better than the parameters of the last step.
///
///     auto average = std::make_shared<steptape::ExponentialMovingAverage>();
///     trainer.add(average);      // on every rank
///     trainer.fit(train, test);  // evaluates the averages
///     average->copyTo(*model);   // the model to keep
///
///     average = decay * average + (1 - decay) * parameter      after each step
///
/// It starts with the parameters at the start of fit(), and is part of every checkpoint. A run that
/// resumes continues bit-identically. If the checkpoint holds no average, it starts with the
/// parameters of the checkpoint.
///
/// Evaluations see the averages if ExponentialMovingAverageOptions::evaluate is set, and so does
/// `checkpoint_best.pt`, whose model is the average. The trained parameters come back afterwards,
/// also if the evaluation throws: only the tensors' memory is exchanged, so nothing is copied.
///
/// Buffers, such as running statistics, are not averaged: the averages are evaluated with the
/// model's own. Averages of float16 and bfloat16 are kept in float32, in which small changes are
/// not rounded away.
///
/// No communication: the ranks average equal parameters in the same way.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost   Memory of one model. An update reads the parameters and the averages and writes the
///         averages: 12 bytes per float32 parameter, as few operators for all parameters on a GPU.
class STEPTAPE_EXPORT ExponentialMovingAverage : public TrainerCallback {
 public:
  /// @throws Error(kInvalidArgument) naming an option out of range.
  explicit ExponentialMovingAverage(ExponentialMovingAverageOptions options = {});
  ~ExponentialMovingAverage() override;

  /// Returns the updates since the start of the run.
  std::int64_t updates() const;

  /// Overwrites the parameters of `module` with their averages.
  ///
  /// @param module The trained model or a copy of it.
  /// @throws Error(kInvalidArgument) naming a parameter that `module` lacks or that has another
  ///         shape; Error(kFailedPrecondition) before fit(). Nothing is changed then.
  void copyTo(torch::nn::Module& module) const;

  void beforeFit(TrainingContext& context) override;
  void afterStep(TrainingContext& context) override;
  void beforeEvaluation(TrainingContext& context) override;
  void afterEvaluation(TrainingContext& context) override;
  void onException(TrainingContext& context) noexcept override;
  void saveState(TrainingProgress& progress) const override;
  void loadState(const TrainingProgress& progress) override;

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
