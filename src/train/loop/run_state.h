// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "steptape/train/checkpoint.h"
#include "steptape/train/learning_rate_schedule.h"
#include "steptape/train/trainer_callback.h"
#include "steptape/train/trainer_options.h"

#include "train/loop/callback_list.h"
#include "train/loop/objective.h"
#include "train/loop/run_limits.h"
#include "train/loop/step_exchange.h"

namespace steptape::detail::train {

/// The arguments of a Trainer.
struct TrainerParts {
  std::shared_ptr<torch::nn::Module> module;
  Objective::Forward forward;
  torch::optim::Optimizer& optimizer;
  std::shared_ptr<Communicator> world;
  DistributedWriter& writer;
  TrainerOptions options;
  std::optional<LearningRateSchedule> schedule;
  CallbackList callbacks;
};

/// The progress of a run, and whether it continues; shared by its parts. Everything except
/// TrainingContext::loss() and `batch` is the same on every rank.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class RunState {
 public:
  /// Starts the clock of TrainerOptions::maxDuration, and catches the signals.
  explicit RunState(TrainerParts& parts);

  TrainerParts& parts() { return parts_; }
  const TrainerOptions& options() const { return parts_.options; }
  Communicator& world() { return *parts_.world; }

  TrainingProgress progress;
  TrainingContext context;
  /// The step of the last logged evaluation, including those before a resume; -1: none.
  std::int64_t loggedEvaluation = -1;
  /// Copy of the latest checkpoint. The optimizer and the callbacks, which may change the model,
  /// wait for it.
  CheckpointCopy copy;

  std::optional<StopReason> stop() const { return stop_; }
  int signal() const { return signal_; }
  /// Requests a stop. Of several reasons, the largest is kept. REQUIRES: all ranks call it.
  void stopFor(StopReason reason);

  /// Calls the callbacks; what they want is known to all ranks at the next agreement.
  void call(TrainerEvent event);

  // The agreement on requests of callbacks, signals and clocks: during a step, together with the
  // exchange of the gradients, or immediately.
  /// @param loss    This rank's, of `samples`; of the previous step if the ranks report late. No
  ///                samples on any rank: lossOfRanks() stays.
  /// @param hasStep Whether this rank has data for another step.
  void postStep(double loss, double samples, bool hasStep);
  /// @throws Error(kFailedPrecondition) if a callback of any rank threw.
  void agreeOnStep();
  void agree();
  /// As agree(), with the losses of a step.
  void agreeOnLoss(double loss, double samples);

  /// Whether a rank does not know its number of batches in this epoch. All ranks then read one step
  /// ahead, and a BatchLoader is further than `progress`.
  bool readsAhead = false;
  /// Returns what the latest step reported about the input.
  const StepExchange::Input& input() const { return input_; }
  /// Agrees on the input before the first step of an epoch. Collective.
  void agreeOnInput(bool hasStep);

  /// Returns the losses of all ranks in the latest step whose losses were exchanged.
  const MetricMoments& lossOfRanks() const { return loss_; }

  bool checkpointIsDue() const { return checkpointIsDue_; }
  void checkpointWritten();

 private:
  StepWish wish() const;

  TrainerParts& parts_;
  RunLimits limits_;
  StepExchange exchange_;
  MetricMoments loss_;
  StepExchange::Input input_;
  std::optional<StopReason> stop_;
  int signal_ = 0;
  bool checkpointIsDue_ = false;
};

}  // namespace steptape::detail::train
