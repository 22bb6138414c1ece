// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "steptape/train/batch_loader.h"

#include "train/loop/loop_speed.h"
#include "train/loop/progress_report.h"
#include "train/loop/run_state.h"
#include "train/loop/step_input.h"
#include "train/loop/step_log.h"
#include "train/loop/train_step.h"

namespace steptape::detail::train {

/// Makes the steps of an epoch, each of one or more batches, and measures their speed.
///
/// Not thread-safe: only the communicator's thread, one at a time.
class StepLoop {
 public:
  StepLoop(RunState& state, const Objective& objective, TrainStep& step, StragglerReport& times,
           StepLog& log, BatchLoader& train);
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;
  /// Waits until a checkpoint has copied what TrainStep owns.
  ~StepLoop() { state_.copy.wait(); }

  /// Starts the epoch at the step of RunState::progress. Collective.
  ///
  /// @throws Error(kInvalidArgument) on every rank if no rank has enough batches for a step, or
  ///         a learning rate schedule needs their number and a rank does not know its own.
  void startEpoch();

  bool epochIsDone() const {
    return state_.readsAhead ? !state_.input().anyHasStep
                             : state_.progress.stepInEpoch >= jobSteps_;
  }

  /// Trains for one step. Logs it, or on a device the previous one. Collective.
  ///
  /// @throws Error(kRankMismatch) on every rank if only some ranks have more batches, and the
  ///         options do not allow that.
  void makeStep();

  /// Logs the latest step, and waits for its loss, unless it has been logged. Collective.
  void settle();

  /// Logs the speed of all ranks in the steps since the last call; nothing without steps.
  void logThroughput();

  /// Returns the progress of the epoch. `samples` are those of all ranks.
  EpochStatus status(double samples) const;
  double ownSamples() const { return speed_.epochSamples(); }
  /// Floating-point operations of a sample in the latest step in which they were counted.
  double flopsPerSample() const { return flops_.value(); }

  double seconds() const { return speed_.seconds(); }
  std::int64_t steps() const { return speed_.steps(); }
  /// 0 if it is unknown.
  std::int64_t stepsPerEpoch() const { return jobSteps_; }

 private:
  /// What is logged of a step.
  struct Report {
    std::int64_t step = 0;
    double samples = 0;
    std::shared_ptr<const StepLoss> loss;
    StepLog::Values values;
    std::optional<RequestedNorms> norms;
  };

  void startReadingAhead();
  void checkInput() const;
  void learnFrom(Batch& batch);
  /// Starts to exchange the ranks' losses and requests.
  void postStep();
  void noteBatch(bool endsStep);
  Report report();
  /// Waits for what a device computes of a report. REQUIRES: no exchange since that step's.
  void complete(Report& report);
  /// REQUIRES: the report is complete, and RunState::lossOfRanks() are those of its step.
  void log(Report& report);
  Throughput throughput(const LoopSpeed::Part& part) const;

  RunState& state_;
  const Objective& objective_;
  TrainStep& step_;
  StragglerReport& times_;
  StepLog& log_;
  std::int64_t batchesPerStep_;
  StepInput input_;

  /// Whether losses are exchanged and logged one step later, on every rank, because one of them
  /// trains on a device: its host can then queue a step while the device is busy with the previous
  /// one.
  bool reportsLate_ = false;
  std::optional<Report> unreported_;  ///< The latest step, if the ranks report late.

  /// Of the current epoch, including those before a resume: the maximum over the ranks. If a rank
  /// does not know its own: of the previous epoch, or 0.
  std::int64_t jobSteps_ = 0;
  double stepSamples_ = 0;  ///< Of this rank.
  LoopSpeed speed_;
  FlopsPerSample flops_;
};

}  // namespace steptape::detail::train
