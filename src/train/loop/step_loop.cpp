// SPDX-License-Identifier: Apache-2.0
#include "train/loop/step_loop.h"

#include <algorithm>
#include <array>
#include <string>

#include "steptape/base/status.h"
#include "steptape/libtorch/op_profiler.h"
#include "steptape/train/recipe.h"

namespace steptape::detail::train {
namespace {

bool isDue(std::int64_t interval, std::int64_t step) {
  return interval > 0 && step % interval == 0;
}

[[noreturn]] void throwNoStep(std::int64_t batches, std::int64_t batchesPerStep) {
  throw Error(ErrorCode::kInvalidArgument, "Trainer: got " + std::to_string(batches) +
                                               " training batches; expected at least " +
                                               std::to_string(batchesPerStep));
}

}  // namespace

StepLoop::StepLoop(RunState& state, const Objective& objective, TrainStep& step,
                   StragglerReport& times, StepLog& log, BatchLoader& train)
    : state_(state),
      objective_(objective),
      step_(step),
      times_(times),
      log_(log),
      batchesPerStep_(state.options().gradientSync.accumulationSteps),
      input_(train, batchesPerStep_) {}

void StepLoop::startEpoch() {
  const TrainingProgress& progress = state_.progress;
  input_.startEpoch(progress);
  const std::int64_t left = input_.batchesLeft();
  // The maximum over the ranks, whether it is unknown on any rank, and whether any has a device.
  std::array<std::int64_t, 3> ofRanks{progress.stepInEpoch + left / batchesPerStep_,
                                      input_.lengthIsKnown() ? 0 : 1,
                                      objective_.device().is_cpu() ? 0 : 1};
  state_.world().allreduce(ofRanks, ReduceOp::kMax);
  state_.readsAhead = ofRanks[1] != 0;
  reportsLate_ = ofRanks[2] != 0;
  if (state_.readsAhead) {
    startReadingAhead();
  } else if (ofRanks[0] == 0) {
    throwNoStep(left, batchesPerStep_);
  } else {
    jobSteps_ = ofRanks[0];
  }
  speed_.startEpoch();
  TrainingContext& context = state_.context;
  context.epoch = progress.epoch;
  context.batchInEpoch = progress.stepInEpoch * batchesPerStep_;
  context.batchesPerEpoch = jobSteps_ * batchesPerStep_;
}

void StepLoop::startReadingAhead() {
  if (state_.parts().schedule) {
    throw Error(ErrorCode::kInvalidArgument,
                "Trainer: got a schedule of the learning rate, which follows the fraction of an "
                "epoch, and a loader that does not know its length; expected one whose "
                "BatchLoader::batches() is known, such as by TorchLoaderOptions::batches");
  }
  input_.readAhead();
  state_.agreeOnInput(input_.hasStep());
  if (epochIsDone() && state_.progress.stepInEpoch == 0) {
    throwNoStep(input_.batchesAhead(), batchesPerStep_);
  }
}

void StepLoop::checkInput() const {
  const StepExchange::Input& input = state_.input();
  if (state_.readsAhead && input.anyHasStep && !input.allHaveStep &&
      !state_.options().unevenBatches) {
    throw Error(ErrorCode::kRankMismatch,
                "Trainer: the training data of some ranks ended after " +
                    std::to_string(state_.progress.stepInEpoch) +
                    " steps of the epoch, those of others did not; expected equally many batches "
                    "on every rank, or TrainerOptions::unevenBatches");
  }
}

void StepLoop::makeStep() {
  checkInput();
  const Stopwatch::Scope timing(speed_.time());
  TrainingProgress& progress = state_.progress;
  const bool hasData = input_.hasStep();
  if (const auto& schedule = state_.parts().schedule) {
    const double fraction =
        static_cast<double>(progress.stepInEpoch) / static_cast<double>(jobSteps_);
    schedule->apply(state_.parts().optimizer, static_cast<double>(progress.epoch) + fraction);
  }
  const TrainerOptions& options = state_.options();
  if (options.unevenBatches) {
    step_.join(hasData);
  }
  const bool mayEndEpoch = state_.readsAhead || progress.stepInEpoch + 1 == jobSteps_;
  step_.setKeepGradients((options.histograms && mayEndEpoch) ||
                         isDue(options.parameterNormSteps, progress.step + 1));
  step_.begin();
  stepSamples_ = 0;
  flops_.beginStep(progress.stepInEpoch == 0);
  for (std::int64_t i = 1; i <= batchesPerStep_; ++i) {
    const bool endsStep = i == batchesPerStep_;
    Batch batch;
    if (hasData) {
      learnFrom(batch);
    }
    if (endsStep) {
      if (hasData && input_.readsAhead()) {
        const auto timer = times_.time(StepPart::kInput);
        input_.readAhead();
      }
      postStep();
      state_.copy.wait();
    }
    step_.exchange();
    noteBatch(endsStep);
    if (hasData) {
      state_.context.batch = &batch;
      state_.call(TrainerEvent::kAfterBatch);
      state_.context.batch = nullptr;
    }
  }
  state_.call(TrainerEvent::kAfterStep);
  {
    const auto timer = times_.time(StepPart::kWait);
    state_.agreeOnStep();
  }
  if (state_.readsAhead && epochIsDone()) {
    jobSteps_ = progress.stepInEpoch;
  }
  if (unreported_) {
    log(*unreported_);
    unreported_.reset();
  }
  Report latest = report();
  if (reportsLate_) {
    unreported_ = std::move(latest);
  } else {
    complete(latest);
    log(latest);
  }
  times_.endStep(state_.progress.step);
}

void StepLoop::learnFrom(Batch& batch) {
  {
    const auto timer = times_.time(StepPart::kInput);
    input_.next(batch);
    objective_.toDevice(batch);
  }
  state_.context.batch = &batch;
  state_.call(TrainerEvent::kBeforeBatch);
  state_.context.batch = nullptr;
  std::optional<FlopCounter> counter;
  if (flops_.isCounting()) {
    counter.emplace();
  }
  step_.learn(objective_, batch);
  flops_.add(counter ? static_cast<double>(counter->flops()) : 0);
  stepSamples_ += static_cast<double>(batch.size());
}

void StepLoop::postStep() {
  if (unreported_) {
    complete(*unreported_);
    state_.postStep(unreported_->values.loss, unreported_->samples, input_.hasStep());
  } else if (reportsLate_) {
    state_.postStep(0, 0, input_.hasStep());
  } else {
    state_.postStep(step_.loss()->value(), stepSamples_, input_.hasStep());
  }
}

void StepLoop::settle() {
  if (unreported_) {
    complete(*unreported_);
    state_.agreeOnLoss(unreported_->values.loss, unreported_->samples);
    log(*unreported_);
    unreported_.reset();
  }
}

void StepLoop::noteBatch(bool endsStep) {
  TrainingContext& context = state_.context;
  ++context.batchInEpoch;
  if (endsStep) {
    ++state_.progress.stepInEpoch;
    context.step = ++state_.progress.step;
    context.loss_ = step_.loss();
    context.learningRate = learningRateOf(state_.parts().optimizer);
    speed_.endStep(stepSamples_);
    flops_.endStep(stepSamples_);
  }
}

StepLoop::Report StepLoop::report() {
  Report report;
  report.step = state_.progress.step;
  report.samples = stepSamples_;
  report.loss = step_.loss();
  report.values.learningRate = state_.context.learningRate;
  report.values.lossScale = step_.lossScale();
  if (isDue(state_.options().parameterNormSteps, report.step)) {
    report.norms = log_.requestNorms(*state_.parts().module);
  }
  return report;
}

void StepLoop::complete(Report& report) {
  const auto timer = times_.time(StepPart::kBackward);  // The device is still there.
  report.values.loss = report.loss->value();
  report.values.gradientNorm = step_.gradientNorm();
  report.values.clipFactor = step_.clipFactor();
}

void StepLoop::log(Report& report) {
  report.values.lossOfRanks = state_.lossOfRanks();
  log_.step(report.values, report.step);
  if (report.norms) {
    log_.norms(report.norms->take(), report.values.clipFactor, report.step);
  }
  speed_.addJobSamples(report.values.lossOfRanks.weight);
}

void StepLoop::logThroughput() {
  if (speed_.hasJobSamples()) {
    log_.throughput(throughput(speed_.takeJobSamples()), state_.progress.step);
  }
}

Throughput StepLoop::throughput(const LoopSpeed::Part& part) const {
  constexpr double kTera = 1e12;
  const double rate = part.samples / part.seconds;
  return {rate, rate * static_cast<double>(state_.options().tokensPerSample),
          rate * flopsPerSample() / kTera};
}

EpochStatus StepLoop::status(double samples) const {
  const TrainingProgress& progress = state_.progress;
  EpochStatus status;
  status.epoch = progress.epoch + 1;
  status.epochs = state_.options().epochs;
  status.step = progress.stepInEpoch;
  status.steps = jobSteps_ == 0 ? 0 : std::max(jobSteps_, progress.stepInEpoch);
  status.loss = state_.lossOfRanks().mean();
  status.seconds = speed_.epochSeconds();
  status.speed = throughput({samples, status.seconds});
  status.secondsLeft = status.seconds *
                       static_cast<double>(std::max<std::int64_t>(0, status.steps - status.step)) /
                       static_cast<double>(progress.stepInEpoch);
  return status;
}

}  // namespace steptape::detail::train
