// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/train/batch_loader.h"

#include "train/loop/best_tracker.h"
#include "train/loop/evaluator.h"
#include "train/loop/run_state.h"
#include "train/loop/step_log.h"

namespace steptape::detail::train {

/// Evaluates the model of a run on the test data, logs the metrics, and watches which is the best.
///
/// Not thread-safe: only the communicator's thread, one at a time.
class RunEvaluation {
 public:
  /// All must outlive it.
  RunEvaluation(RunState& state, const Objective& objective, BatchLoader& test, StepLog& log);

  /// Agrees with the other ranks on what callbacks do. Collective.
  void start();
  /// Sets the metrics of the training's context, and logs them. Collective.
  ///
  /// @return whether the model is the best so far, and the options keep that.
  bool evaluate();
  /// Sets the metrics of the training's context again. Collective.
  void repeat() { state_.context.metrics = evaluator_.evaluate(objective_, test_); }

  /// Returns whether the model of this step was evaluated.
  bool isDone() const { return step_ == state_.progress.step; }
  /// Returns whether a callback of any rank may replace the model after its evaluation.
  bool precedesCallbacks() const { return hasCallbackAfter_; }
  BestTracker& best() { return best_; }

 private:
  RunState& state_;
  const Objective& objective_;
  BatchLoader& test_;
  StepLog& log_;
  Evaluator evaluator_;
  BestTracker best_;
  bool hasCallbackAfter_ = false;
  std::int64_t step_ = -1;
};

}  // namespace steptape::detail::train
