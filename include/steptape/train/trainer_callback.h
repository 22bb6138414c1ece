// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/train/batch_loader.h"
#include "steptape/train/checkpoint.h"
#include "steptape/train/trainer_options.h"

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace steptape {
namespace detail::train {
class StepLoop;
class StepLoss;
}  // namespace detail::train

/// The state of a training run when a callback is called.
///
/// @threads Not thread-safe: one thread at a time.
struct STEPTAPE_EXPORT TrainingContext {
  TrainingContext(torch::nn::Module& itsModule, torch::optim::Optimizer& itsOptimizer,
                  DistributedWriter& itsWriter, Communicator& itsWorld)
      : module(itsModule), optimizer(itsOptimizer), writer(itsWriter), world(itsWorld) {}

  torch::nn::Module& module;
  torch::optim::Optimizer& optimizer;
  DistributedWriter& writer;
  Communicator& world;

  std::int64_t epoch = 0;         ///< Counted from 0.
  std::int64_t step = 0;          ///< Steps done since the start of the run.
  std::int64_t batchInEpoch = 0;  ///< Batches of this epoch done.
  /// The largest number of batches of any rank. If a BatchLoader does not know its number: 0 in the
  /// first epoch, then the number of the previous epoch.
  std::int64_t batchesPerEpoch = 0;
  double learningRate = 0;  ///< Of the first parameter group.
  /// The batch, which beforeBatch() may change; null outside beforeBatch() and afterBatch().
  Batch* batch = nullptr;
  /// Results of the latest evaluation, over all ranks; empty before the first.
  std::vector<MetricValue> metrics;

  /// Returns this rank's loss in the latest step; NaN before the first step. Waits for a GPU that
  /// has not computed it yet, which the trainer itself does only one step later.
  double loss() const;

  /// Returns the value of `name` in `metrics`.
  ///
  /// @throws Error(kInvalidArgument) if there is none.
  double metric(std::string_view name) const;

  /// Ends the run on all ranks after the same step; a call on one rank is enough. From
  /// beforeBatch(): after the current step. From afterBatch() and afterStep(): after the next step
  /// at the latest.
  /// From other callbacks: before the next step.
  void stop() { stopRequested = true; }
  bool stopRequested = false;

 private:
  friend class detail::train::StepLoop;

  std::shared_ptr<const detail::train::StepLoss> loss_;  // null before the first step
};

/// Runs user code at certain points of Trainer::fit(); derive from it and override.
///
///     before/afterFit          once
///     before/afterEpoch        around the steps of an epoch and the evaluation after them
///     before/afterBatch        around forward, backward and, in a step's last batch, the step
///     afterStep                once a step, also on a rank without data, see
///                              TrainerOptions::unevenBatches
///     before/afterEvaluation   around each pass over the test data
///
/// Callbacks run in the order in which they were added, on each rank that added them. They may use
/// collectives if all ranks have them and none throws before.
///
/// A callback that throws ends fit() on every rank with the same Error(kFailedPrecondition), which
/// names rank, callback and message. Errors of batch and step callbacks are exchanged with the
/// gradients, so the other ranks make at most one more step; no further callback is called but
/// onException(). On a single rank the original exception propagates immediately.
class STEPTAPE_EXPORT TrainerCallback {
 public:
  TrainerCallback() = default;
  TrainerCallback(const TrainerCallback&) = delete;
  TrainerCallback& operator=(const TrainerCallback&) = delete;
  virtual ~TrainerCallback();

  virtual void beforeFit(TrainingContext& context);
  virtual void afterFit(TrainingContext& context);
  virtual void beforeEpoch(TrainingContext& context);
  virtual void afterEpoch(TrainingContext& context);
  virtual void beforeBatch(TrainingContext& context);
  virtual void afterBatch(TrainingContext& context);
  virtual void afterStep(TrainingContext& context);
  virtual void beforeEvaluation(TrainingContext& context);
  virtual void afterEvaluation(TrainingContext& context);

  /// Called when an exception ends fit() on this rank, for callbacks that must undo what they
  /// began. Callbacks that were added last are called first. No collectives.
  virtual void onException(TrainingContext& context) noexcept;

  /// Adds what the callback needs to continue to the `values` and `tensors` of a checkpoint, under
  /// names of its own. Called on every rank; the root's are saved. Tensors are copied before the
  /// next step.
  virtual void saveState(TrainingProgress& progress) const;
  /// Receives what saveState() added, on every rank, before beforeFit(). Called if fit() resumes,
  /// also from a checkpoint without state of this callback.
  virtual void loadState(const TrainingProgress& progress);
};

/// Selects a point of Trainer::fit() for Trainer::on(); see TrainerCallback.
enum class TrainerEvent {
  kBeforeFit,
  kAfterFit,
  kBeforeEpoch,
  kAfterEpoch,
  kBeforeBatch,
  kAfterBatch,
  kAfterStep,
  kBeforeEvaluation,
  kAfterEvaluation,
};

/// Returns the name of the event, such as "afterBatch".
STEPTAPE_EXPORT const char* trainerEventName(TrainerEvent event);

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
