// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steptape/metrics/hang_watchdog.h"
#include "steptape/metrics/machine_metrics.h"
#include "steptape/metrics/straggler_report.h"
#include "steptape/train/batch_loader.h"

#include "train/loop/progress_report.h"
#include "train/loop/run_checkpoints.h"
#include "train/loop/run_evaluation.h"
#include "train/loop/run_state.h"
#include "train/loop/step_log.h"
#include "train/loop/step_loop.h"
#include "train/loop/step_profile.h"
#include "train/loop/train_step.h"

namespace steptape::detail::train {

/// Controls the sequence of one Trainer::fit().
///
///     start -> epochs: steps -> evaluation -> checkpoint -> finish
///
/// Not thread-safe: only the communicator's thread, one at a time.
class TrainingRun {
 public:
  /// Collective, as run(). @throws as Trainer::fit().
  TrainingRun(TrainerParts& parts, BatchLoader& train, BatchLoader& test);

  TrainingResult run();

 private:
  void runEpochs();
  void start();
  void logConfiguration();
  void trainEpoch();
  void afterStep();
  void endEpoch();
  void judgeEpoch();
  void finish();
  void noteSpeed();
  void noteOutcome();
  void tellOfStop();
  /// From every rank, if TrainerOptions::verbose.
  void tellOfRank(const std::string& text);

  void evaluate();
  bool isEvery(std::int64_t interval) const;
  void stopAtMaxSteps();

  void save();
  void saveBest();
  void logCheckpoint();
  /// As StepLoop::settle().
  void settle();
  /// Logs the latest step of a run that an exception ends, if this is possible.
  void logLastStep() noexcept;

  RunState state_;
  const TrainerOptions& options_;
  BatchLoader& train_;
  Objective objective_;
  StepLog log_;
  RunEvaluation evaluation_;
  RunCheckpoints checkpoints_;
  ProgressReport report_;
  StragglerReport times_;
  std::optional<MachineMetrics> machine_;
  std::optional<HangWatchdog> watchdog_;
  /// Reset at the end, when the parameters leave the memory that the ranks share.
  std::optional<TrainStep> step_;
  std::optional<StepLoop> loop_;        ///< Present while TrainStep is.
  std::optional<StepProfile> profile_;  ///< From start() on.

  double jobSamples_ = 0;  ///< Of all ranks, in the epochs that have ended in this process.
  TrainingResult result_;
};

}  // namespace steptape::detail::train
