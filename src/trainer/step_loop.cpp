// SPDX-License-Identifier: Apache-2.0
#include "trainer/step_loop.h"

#include <algorithm>
#include <array>
#include <string>

#include "steptape/base/error.h"
#include "steptape/recipe/recipe.h"

namespace steptape::detail {
namespace {

/// Goes to where `progress` stands. @return the batches that this rank has left of the epoch.
std::int64_t goTo(const TrainingProgress& progress, std::int64_t batchesPerStep,
                  BatchLoader& train) {
  if (progress.stepInEpoch > 0 && progress.samplesDone >= 0) {
    return train.resumeEpoch(progress.epoch, progress.samplesDone);
  }
  const std::int64_t done = progress.stepInEpoch * batchesPerStep;
  train.startEpoch(progress.epoch, done);
  return std::max<std::int64_t>(0, train.batches() - done);
}

std::int64_t greatest(std::int64_t ofThisRank, Communicator& world) {
  std::array<std::int64_t, 1> values{ofThisRank};
  world.allreduce(values, ReduceOp::kMax);
  return values.front();
}

}  // namespace

StepLoop::StepLoop(RunState& state, const Objective& objective, TrainStep& step,
                   StragglerReport& times, StepLog& log, BatchLoader& train)
    : state_(state),
      objective_(objective),
      step_(step),
      times_(times),
      log_(log),
      train_(train),
      batchesPerStep_(state.options().gradientSync.accumulationSteps) {}

void StepLoop::startEpoch() {
  const TrainingProgress& progress = state_.progress;
  const std::int64_t left = goTo(progress, batchesPerStep_, train_);
  ownSteps_ = progress.stepInEpoch + left / batchesPerStep_;
  jobSteps_ = greatest(ownSteps_, state_.world());
  if (jobSteps_ == 0) {
    throw Error(ErrorCode::kInvalidArgument, "Trainer got " + std::to_string(left) +
                                                 " training batches, wanted at least " +
                                                 std::to_string(batchesPerStep_));
  }
  epochStart_ = time_.seconds();
  epochSamples_ = 0;
  TrainingContext& context = state_.context;
  context.epoch = progress.epoch;
  context.batchInEpoch = progress.stepInEpoch * batchesPerStep_;
  context.batchesPerEpoch = jobSteps_ * batchesPerStep_;
}

void StepLoop::makeStep() {
  const Stopwatch::Scope timing(time_);
  TrainingProgress& progress = state_.progress;
  const bool hasData = progress.stepInEpoch < ownSteps_;
  if (const auto& schedule = state_.parts().schedule) {
    const double fraction =
        static_cast<double>(progress.stepInEpoch) / static_cast<double>(jobSteps_);
    schedule->apply(state_.parts().optimizer, static_cast<double>(progress.epoch) + fraction);
  }
  if (state_.options().unevenBatches) {
    step_.join(hasData);
  }
  const bool endsEpoch = progress.stepInEpoch + 1 == jobSteps_;
  step_.setKeepGradients(state_.options().histograms && endsEpoch);
  step_.begin();
  stepSamples_ = 0;
  for (std::int64_t i = 1; i <= batchesPerStep_; ++i) {
    const bool endsStep = i == batchesPerStep_;
    Batch batch;
    if (hasData) {
      learnFrom(batch);
    }
    if (endsStep) {
      state_.postStep(step_.loss(), stepSamples_);
    }
    step_.exchange();
    noteBatch(endsStep);
    if (hasData) {
      state_.context.batch = &batch;
      state_.call(TrainerEvent::kAfterBatch);
      state_.context.batch = nullptr;
    }
  }
  {
    const auto timer = times_.time(StepPart::kWait);
    state_.agreeOnStep();
  }
  log();
  times_.endStep(state_.progress.step);
}

void StepLoop::learnFrom(Batch& batch) {
  bool hasNext = false;
  {
    const auto timer = times_.time(StepPart::kInput);
    hasNext = train_.next(batch);
    objective_.toDevice(batch);
  }
  if (!hasNext) {
    throw Error(ErrorCode::kFailedPrecondition, "Trainer: the training data ended after " +
                                                    std::to_string(state_.context.batchInEpoch) +
                                                    " batches of the epoch, wanted " +
                                                    std::to_string(ownSteps_ * batchesPerStep_) +
                                                    " by what BatchLoader::batches() says");
  }
  state_.context.batch = &batch;
  state_.call(TrainerEvent::kBeforeBatch);
  state_.context.batch = nullptr;
  step_.learn(objective_, batch);
  stepSamples_ += static_cast<double>(batch.size());
}

void StepLoop::noteBatch(bool endsStep) {
  TrainingContext& context = state_.context;
  ++context.batchInEpoch;
  if (endsStep) {
    ++state_.progress.stepInEpoch;
    context.step = ++state_.progress.step;
    context.loss = step_.loss();
    context.learningRate = learningRateOf(state_.parts().optimizer);
    epochSamples_ += stepSamples_;
    ++steps_;
  }
}

void StepLoop::log() {
  StepLog::Values values;
  values.loss = state_.context.loss;
  values.lossOfRanks = state_.lossOfRanks();
  values.learningRate = state_.context.learningRate;
  values.gradientNorm = step_.gradientNorm();
  values.lossScale = step_.lossScale();
  log_.step(values, state_.progress.step);
}

EpochStatus StepLoop::status(double samples) const {
  const TrainingProgress& progress = state_.progress;
  EpochStatus status;
  status.epoch = progress.epoch + 1;
  status.epochs = state_.options().epochs;
  status.step = progress.stepInEpoch;
  status.steps = jobSteps_;
  status.loss = state_.lossOfRanks().mean();
  status.seconds = time_.seconds() - epochStart_;
  status.samplesPerSecond = samples / status.seconds;
  status.secondsLeft = status.seconds * static_cast<double>(jobSteps_ - progress.stepInEpoch) /
                       static_cast<double>(progress.stepInEpoch);
  return status;
}

}  // namespace steptape::detail
