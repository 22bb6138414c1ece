// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "steptape/data/batch_loader.h"

#include "trainer/progress_report.h"
#include "trainer/run_state.h"
#include "trainer/step_input.h"
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
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;
  /// Waits for the copy that a checkpoint takes of what TrainStep owns.
  ~StepLoop() { state_.copy.wait(); }

  /// Goes to where RunState::progress stands in its epoch. Collective.
  ///
  /// @throws Error(kInvalidArgument) on every rank if no rank has the batches for a step, or there
  ///         is a schedule of the learning rate and a rank does not know how many it has.
  void startEpoch();

  bool epochIsDone() const {
    return state_.readsAhead ? !state_.input().anyHasStep
                             : state_.progress.stepInEpoch >= jobSteps_;
  }

  /// Trains for one step and logs it. Collective.
  ///
  /// @throws Error(kRankMismatch) on every rank if some have no more batches, others have, and the
  ///         options do not allow for it.
  void makeStep();

  /// Logs how fast all ranks were in the steps since the last call; nothing if there are none.
  void logThroughput();

  /// Where the epoch stands. `samples` are those of all ranks.
  EpochStatus status(double samples) const;
  double ownSamples() const { return epochSamples_; }
  /// Floating-point operations of a sample in the latest step in which they were counted.
  double flopsPerSample() const { return flopsPerSample_.value_or(0); }

  double seconds() const { return time_.seconds(); }
  std::int64_t steps() const { return steps_; }
  /// 0 if it is not known yet.
  std::int64_t stepsPerEpoch() const { return jobSteps_; }

 private:
  void startReadingAhead();
  void checkInput() const;
  void learnFrom(Batch& batch);
  void noteBatch(bool endsStep);
  void log();
  Throughput throughput(double samples, double seconds) const;

  RunState& state_;
  const Objective& objective_;
  TrainStep& step_;
  StragglerReport& times_;
  StepLog& log_;
  std::int64_t batchesPerStep_;
  StepInput input_;

  /// In the epoch that is under way, those before a resume included, of the rank that has most.
  /// Where a rank does not know its own: in the epoch before, or 0.
  std::int64_t jobSteps_ = 0;
  // Of this rank and this process.
  double stepSamples_ = 0;
  double epochSamples_ = 0;
  double epochStart_ = 0;  ///< What time_ showed when the epoch began.

  /// In the first step of each epoch, as a callback may have frozen or added layers.
  bool countsFlops_ = false;
  double stepFlops_ = 0;  ///< In a step in which they are counted.
  std::optional<double> flopsPerSample_;

  std::int64_t steps_ = 0;
  Stopwatch time_;

  // Since the throughput was logged.
  double jobSamples_ = 0;  ///< Of all ranks.
  double loggedAt_ = 0;    ///< What time_ showed then.
};

}  // namespace steptape::detail
