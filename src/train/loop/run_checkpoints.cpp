// SPDX-License-Identifier: Apache-2.0
#include "train/loop/run_checkpoints.h"

#include "steptape/base/status.h"
#include "steptape/train/recipe.h"

#include "process/blackbox/state_page.h"
#include "train/loop/stopwatch.h"

namespace steptape::detail::train {
namespace {

constexpr const char* kBestValue = "best value";
constexpr const char* kBestStep = "best step";
constexpr const char* kEvaluationsSince = "evaluations since the best";
constexpr const char* kLoggedEvaluation = "step of the evaluation logged last";

void checkDirectory(const TrainerOptions& options) {
  if (!options.checkpointDirectory.empty()) {
    return;
  }
  const char* option = options.resume                         ? "resume"
                       : options.monitor.keepBest             ? "monitor.keepBest"
                       : options.checkpointEverySteps > 0     ? "checkpointEverySteps"
                       : options.checkpointPeriod.count() > 0 ? "checkpointPeriod"
                                                              : nullptr;
  if (option != nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("Trainer: got ") + option +
                    " without a checkpointDirectory; expected both or neither");
  }
}

double valueOr(const TrainingProgress& progress, const char* name, double otherwise) {
  const auto found = progress.values.find(name);
  return found == progress.values.end() ? otherwise : found->second;
}

}  // namespace

RunCheckpoints::RunCheckpoints(RunState& state, BatchLoader& train, BestTracker& best)
    : state_(state), train_(train), best_(best) {
  const TrainerOptions& options = state.options();
  checkDirectory(options);
  if (!options.checkpointDirectory.empty()) {
    store_.emplace(options.checkpointDirectory, state.parts().world,
                   CheckpointStoreOptions{options.keptCheckpoints});
  }
}

LearningRateSchedule* RunCheckpoints::schedule() {
  auto& schedule = state_.parts().schedule;
  return schedule ? &*schedule : nullptr;
}

TrainingProgress RunCheckpoints::progress(const TrainStep& step) const {
  TrainingProgress progress = state_.progress;
  progress.samplesDone = progress.stepInEpoch == 0 ? 0
                         : state_.readsAhead       ? -1
                                                   : train_.samplesDone();
  step.saveTo(progress.values);
  state_.parts().callbacks.saveState(progress);
  const BestTracker::State& best = best_.best();
  progress.values[kBestValue] = best.value;
  progress.values[kBestStep] = static_cast<double>(best.step);
  progress.values[kEvaluationsSince] = static_cast<double>(best.evaluationsSince);
  progress.values[kLoggedEvaluation] = static_cast<double>(state_.loggedEvaluation);
  return progress;
}

void RunCheckpoints::save(const TrainStep& step) {
  const bool isBest = std::exchange(isBest_, false);
  state_.checkpointWritten();
  if (store_) {
    latest_ = write(step, isBest ? CheckpointRole::kNewestAndBest : CheckpointRole::kNewest);
  }
  savedStep_ = state_.progress.step;
}

void RunCheckpoints::saveBest(const TrainStep& step) {
  if (std::exchange(isBest_, false)) {
    write(step, CheckpointRole::kBest);
  }
}

std::string RunCheckpoints::write(const TrainStep& step, CheckpointRole role) {
  const process::PhaseScope phase(process::RunPhase::kCheckpoint);
  finish();
  const TrainerParts& parts = state_.parts();
  if (state_.options().asyncCheckpoints) {
    state_.copy =
        store_->saveAsync(*parts.module, parts.optimizer, progress(step), schedule(), role);
    return state_.copy.path();
  }
  Stopwatch time;
  std::string path;
  {
    const Stopwatch::Scope timing(time);
    path = store_->save(*parts.module, parts.optimizer, progress(step), schedule(), role);
  }
  times_ = CheckpointTimes{state_.progress.step, time.seconds(), time.seconds()};
  return path;
}

void RunCheckpoints::finish() {
  if (store_) {
    if (const auto times = store_->wait()) {
      times_ = times;
    }
  }
}

void RunCheckpoints::loadBest() {
  const TrainerParts& parts = state_.parts();
  store_->loadBest(*parts.module, parts.optimizer, schedule());
}

std::string RunCheckpoints::resume(TrainStep& step) {
  TrainerParts& parts = state_.parts();
  const auto found = store_->loadNewest(*parts.module, parts.optimizer, schedule());
  if (!found) {
    return "no checkpoint in " + state_.options().checkpointDirectory +
           " yet: starting from the beginning";
  }
  goTo(*found);
  step.restoreFrom(found->progress.values);
  parts.callbacks.loadState(found->progress);
  std::string text;
  for (const std::string& why : found->passedOver) {
    text += why + "\n";
  }
  return text + "resumed from " + found->path + " at step " + std::to_string(found->progress.step);
}

void RunCheckpoints::goTo(const FoundCheckpoint& found) {
  const TrainingProgress& progress = found.progress;
  const int ranks = state_.world().size();
  if (progress.seed != train_.seed()) {
    throw Error(ErrorCode::kInvalidArgument,
                found.path + ": got the seed " + std::to_string(train_.seed()) +
                    " of the data; expected " + std::to_string(progress.seed) +
                    " as in the checkpoint: the order of the samples would differ");
  }
  if (progress.stepInEpoch > 0 && progress.samplesDone < 0 && progress.ranks != ranks) {
    throw Error(ErrorCode::kInvalidArgument,
                found.path + ": got " + std::to_string(ranks) + " ranks; expected " +
                    std::to_string(progress.ranks) +
                    " as in the checkpoint: it was written in the middle of an epoch, and the "
                    "BatchLoader cannot divide the rest among other ranks");
  }
  if (state_.options().scaleLearningRate) {
    scaleLearningRate(state_.parts().optimizer, static_cast<double>(ranks) / progress.ranks);
  }
  best_.restore({valueOr(progress, kBestValue, best_.best().value),
                 static_cast<std::int64_t>(valueOr(progress, kBestStep, 0)),
                 static_cast<std::int64_t>(valueOr(progress, kEvaluationsSince, 0))});
  state_.loggedEvaluation = static_cast<std::int64_t>(valueOr(progress, kLoggedEvaluation, -1));
  state_.progress = progress;
  state_.progress.tensors.clear();
  state_.progress.writerStep = -1;  // The next checkpoint is at another step.
}

}  // namespace steptape::detail::train
