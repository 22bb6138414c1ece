// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/data/batch_loader.h"
#include "steptape/distributed/distributed_writer.h"
#include "steptape/trainer/training_result.h"

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// Where a training run stands when a callback is called.
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
  std::int64_t batchInEpoch = 0;  ///< Batches done of this epoch.
  /// On the rank that has most; 0 in the first epoch if a BatchLoader does not know, later as in
  /// the epoch before.
  std::int64_t batchesPerEpoch = 0;
  double learningRate = 0;  ///< Of the first parameter group.
  /// This rank's, of the latest step; NaN before the first.
  double loss = std::numeric_limits<double>::quiet_NaN();
  /// What beforeBatch() may change; null outside of beforeBatch() and afterBatch().
  Batch* batch = nullptr;
  /// Of the latest evaluation, over all ranks; empty before the first.
  std::vector<MetricValue> metrics;

  /// The value of `name` in `metrics`. @throws Error(kInvalidArgument) if there is none.
  double metric(std::string_view name) const;

  /// Ends the run on all ranks, at the same step, also if one rank alone calls it. From
  /// beforeBatch() it ends behind that step, from afterBatch() at the latest behind the next; from
  /// all others before a further step is made.
  void stop() { stopRequested = true; }
  bool stopRequested = false;
};

/// What a program wants to do at certain points of Trainer::fit(); derive and override.
///
///     before/afterFit          once
///     before/afterEpoch        around the steps of an epoch and the evaluation behind them
///     before/afterBatch        around forward, backward and, with a step's last batch, the step
///     before/afterEvaluation   around each pass over the test data
///
/// Callbacks run in the order in which they were added, on each rank that has added them. They may
/// use collectives if all ranks have them and none throws before.
///
/// A callback that throws ends fit() on every rank with the same Error(kFailedPrecondition), which
/// names rank, callback and message. Callbacks of a batch are asked for that when the gradients
/// are exchanged, so that the others make one step more at most; no callback is called any more.
/// On a single rank the exception itself goes on, at the same point.
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
  virtual void beforeEvaluation(TrainingContext& context);
  virtual void afterEvaluation(TrainingContext& context);
};

/// A point of Trainer::fit(), for Trainer::on(); see TrainerCallback.
enum class TrainerEvent {
  kBeforeFit,
  kAfterFit,
  kBeforeEpoch,
  kAfterEpoch,
  kBeforeBatch,
  kAfterBatch,
  kBeforeEvaluation,
  kAfterEvaluation,
};

/// Such as "afterBatch".
STEPTAPE_EXPORT const char* trainerEventName(TrainerEvent event);

}  // namespace steptape
