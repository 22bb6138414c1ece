// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/data/batch_loader.h"

#include "trainer/progress_report.h"
#include "trainer/run_state.h"
#include "trainer/step_log.h"
#include "trainer/stopwatch.h"
#include "trainer/train_step.h"

namespace steptape::detail {

/// The steps of an epoch, each from one batch or several, and how fast they went.
///
/// Not thread-safe: one thread at a time, the communicator's.
class StepLoop {
 public:
  StepLoop(RunState& state, const Objective& objective, TrainStep& step, StragglerReport& times,
           StepLog& log, BatchLoader& train);

  /// Goes to where RunState::progress stands in its epoch. Collective.
  ///
  /// @throws Error(kInvalidArgument) on every rank if no rank has the batches for a step.
  void startEpoch();

  bool epochIsDone() const { return state_.progress.stepInEpoch >= jobSteps_; }

  /// Trains for one step and logs it. Collective.
  void makeStep();

  /// Where the epoch stands. `samples` are those of all ranks.
  EpochStatus status(double samples) const;
  double ownSamples() const { return epochSamples_; }

  double seconds() const { return time_.seconds(); }
  std::int64_t steps() const { return steps_; }
  std::int64_t stepsPerEpoch() const { return jobSteps_; }

 private:
  void learnFrom(Batch& batch);
  void noteBatch(bool endsStep);
  void log();

  RunState& state_;
  const Objective& objective_;
  TrainStep& step_;
  StragglerReport& times_;
  StepLog& log_;
  BatchLoader& train_;
  std::int64_t batchesPerStep_;

  // Of the epoch that is under way, what was before a resume included.
  std::int64_t ownSteps_ = 0;
  std::int64_t jobSteps_ = 0;  ///< Of the rank that has most.
  // Of this rank and this process.
  double stepSamples_ = 0;
  double epochSamples_ = 0;
  double epochStart_ = 0;  ///< What time_ showed when the epoch began.

  std::int64_t steps_ = 0;
  Stopwatch time_;
};

}  // namespace steptape::detail
