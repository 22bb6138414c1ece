// SPDX-License-Identifier: Apache-2.0
#include "train/loop/training_run.h"

#include <array>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <unistd.h>

#include "steptape/metrics/machine_metrics.h"
#include "steptape/ranks/communicator.h"
#include "steptape/train/parameters.h"
#include "steptape/train/recipe.h"

#include "process/blackbox/state_page.h"
#include "train/loop/run_setup.h"

#include <ATen/Parallel.h>

namespace steptape::detail::train {
namespace {

StragglerReportOptions stragglerOptions(const TrainerOptions& options) {
  StragglerReportOptions straggler;
  straggler.everySteps = options.stragglerSteps > 0 ? options.stragglerSteps
                                                    : std::numeric_limits<std::int64_t>::max();
  straggler.mode = ReduceMode::kNonBlocking;
  straggler.detailScalars = options.detailScalars;
  return straggler;
}

/// Measures the GPU that the rank trains on, unless the caller chose others.
MachineMetricsOptions machineOptions(const TrainerParts& parts) {
  MachineMetricsOptions options = *parts.options.machineMetrics;
  const c10::Device device = deviceOf(parts);
  if (device.is_cuda() && device.has_index() && !options.sampler.gpus) {
    options.sampler.gpus = {device.index()};
  }
  return options;
}

TrainerParts& agreedOn(TrainerParts& parts, const BatchLoader& train) {
  checkRanksAgree(parts, train);
  return parts;
}

double sumOverRanks(double value, Communicator& world) {
  std::array<double, 1> values{value};
  world.allreduce(values, ReduceOp::kSum);
  return values.front();
}

}  // namespace

TrainingRun::TrainingRun(TrainerParts& parts, BatchLoader& train, BatchLoader& test)
    : state_(agreedOn(parts, train)),
      options_(parts.options),
      train_(train),
      objective_(parts.forward, options_.loss, options_.precision, deviceOf(parts)),
      log_(parts.writer, options_),
      evaluation_(state_, objective_, test, log_),
      checkpoints_(state_, train, evaluation_.best()),
      report_(options_.progress, parts.world->isRoot()),
      times_(parts.writer, stragglerOptions(options_)) {
  broadcastParameters(*parts.module, *parts.world);
  checkOptimizersAgree(parts);
  step_.emplace(*parts.module, parts.optimizer, parts.world, options_, times_);
  loop_.emplace(state_, objective_, *step_, times_, log_, train);
  if (options_.machineMetrics) {
    machine_.emplace(parts.writer, machineOptions(parts));
  }
  if (options_.hangWatchdog) {
    watchdog_.emplace(parts.writer, *options_.hangWatchdog);
  }
}

TrainingResult TrainingRun::run() {
  try {
    runEpochs();
  } catch (...) {
    logLastStep();
    // Before the parameters move out of the memory in which they were trained.
    state_.parts().callbacks.callOnException(state_.context);
    throw;
  }
  return result_;
}

void TrainingRun::logLastStep() noexcept {
  if (loop_ && state_.world().size() == 1) {  // Several ranks may be out of step.
    try {
      loop_->settle();
    } catch (const std::exception&) {  // The device has failed: its loss is lost.
    }
  }
}

void TrainingRun::runEpochs() {
  start();
  while (!state_.stop() && state_.progress.epoch < options_.epochs) {
    trainEpoch();
    endEpoch();
  }
  finish();
}

void TrainingRun::start() {
  const process::PhaseScope phase(process::RunPhase::kSetup);
  state_.progress.seed = train_.seed();
  if (options_.resume) {
    report_.message(checkpoints_.resume(*step_));
  }
  tellOfRank("process " + std::to_string(getpid()) + ", device " + deviceOf(state_.parts()).str() +
             ", threads " + std::to_string(at::get_num_threads()));
  if (options_.logConfiguration) {
    logConfiguration();
  }
  profile_.emplace(state_, log_.time());
  state_.context.epoch = state_.progress.epoch;
  state_.context.step = state_.progress.step;
  state_.context.learningRate = learningRateOf(state_.parts().optimizer);
  state_.call(TrainerEvent::kBeforeFit);
  state_.agree();
  evaluation_.start();
  stopAtMaxSteps();
  if (evaluation_.best().isExhausted()) {
    state_.stopFor(StopReason::kMonitor);
  }
}

void TrainingRun::logConfiguration() {
  DescriptionRows rows = describeRun(state_.world());
  rows.emplace_back("gradients", step_->sync().describe());
  for (const DescriptionRows& more : {describeOptions(options_), options_.configuration}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const Stopwatch::Scope timing(log_.time());
  state_.parts().writer.addText("configuration", markdownTable(rows), state_.progress.step);
}

void TrainingRun::trainEpoch() {
  state_.parts().module->train();
  loop_->startEpoch();
  state_.call(TrainerEvent::kBeforeEpoch);
  state_.agree();
  while (!state_.stop() && !loop_->epochIsDone()) {
    loop_->makeStep();
    if (profile_) {
      profile_->step();
    }
    if (report_.wantsStep()) {
      report_.step(loop_->status(loop_->ownSamples() * state_.world().size()));
    }
    afterStep();
  }
}

void TrainingRun::afterStep() {
  if (machine_) {
    const Stopwatch::Scope timing(log_.time());
    machine_->endStep(state_.progress.step);
  }
  if (isEvery(options_.stragglerSteps)) {
    loop_->logThroughput();
  }
  stopAtMaxSteps();
  if (state_.stop() || loop_->epochIsDone()) {
    return;  // endEpoch() evaluates and saves.
  }
  if (isEvery(options_.evaluateEverySteps)) {
    evaluate();
  }
  if (state_.checkpointIsDue() || isEvery(options_.checkpointEverySteps)) {
    save();
  } else {
    saveBest();
  }
}

void TrainingRun::endEpoch() {
  settle();
  const double samples = sumOverRanks(loop_->ownSamples(), state_.world());
  jobSamples_ += samples;
  const EpochStatus status = loop_->status(samples);
  EpochStatus ofRank = loop_->status(loop_->ownSamples());
  ofRank.loss = state_.context.loss();
  loop_->logThroughput();
  TrainingProgress& progress = state_.progress;
  if (loop_->epochIsDone()) {
    ++progress.epoch;
    progress.stepInEpoch = 0;
  }
  if (state_.stop() == StopReason::kSignal) {
    save();  // First, because little time is left.
  } else {
    judgeEpoch();
  }
  if (samples > 0) {
    log_.epoch(status, progress.step);
    report_.epoch(status,
                  evaluation_.isDone() ? state_.context.metrics : std::vector<MetricValue>{});
    tellOfRank(epochLine(ofRank, {}));
  }
  state_.call(TrainerEvent::kAfterEpoch);
  state_.agree();
  if (!checkpoints_.isSaved()) {
    save();
  }
}

void TrainingRun::judgeEpoch() {
  const TrainingProgress& progress = state_.progress;
  if (options_.histograms) {
    log_.histograms(*state_.parts().module, progress.step);
  }
  const bool isLast = state_.stop() || progress.epoch == options_.epochs;
  const std::int64_t interval = options_.evaluateEveryEpochs;
  const bool isDue = isLast || (interval > 0 && progress.epoch % interval == 0);
  if (isDue && !evaluation_.isDone()) {
    evaluate();
  }
}

void TrainingRun::evaluate() {
  const process::PhaseScope phase(process::RunPhase::kValidation);
  settle();
  state_.call(TrainerEvent::kBeforeEvaluation);
  if (evaluation_.evaluate()) {
    checkpoints_.setBest();
  }
  if (evaluation_.precedesCallbacks()) {
    saveBest();  // A callback may replace the model that was evaluated.
  }
  state_.call(TrainerEvent::kAfterEvaluation);
  state_.agree();
}

void TrainingRun::finish() {
  if (profile_) {
    profile_->finish();
  }
  times_.finish();
  if (machine_) {
    machine_->finish();
  }
  if (!evaluation_.isDone() && state_.stop() != StopReason::kSignal) {
    evaluate();
    saveBest();
  }
  checkParametersAreEqual(*state_.parts().module, state_.world());
  noteSpeed();
  loop_.reset();
  step_.reset();
  checkpoints_.finish();
  logCheckpoint();
  const BestTracker::State& best = evaluation_.best().best();
  if (options_.monitor.restoreBest && best.step > 0 && best.step != state_.progress.step) {
    checkpoints_.loadBest();
    evaluation_.repeat();
  }
  state_.call(TrainerEvent::kAfterFit);
  state_.agree();
  noteOutcome();
  tellOfStop();
  report_.message("used " + measureJobUsage(state_.world()).text());
}

void TrainingRun::noteSpeed() {
  result_.trainingSeconds = loop_->seconds();
  result_.loggingSeconds = log_.time().seconds();
  if (loop_->steps() > 0) {
    result_.secondsPerEpoch = loop_->stepsPerEpoch() > 0
                                  ? result_.trainingSeconds *
                                        static_cast<double>(loop_->stepsPerEpoch()) /
                                        static_cast<double>(loop_->steps())
                                  : std::numeric_limits<double>::quiet_NaN();
    result_.flopsPerSample = loop_->flopsPerSample();
    result_.samplesPerSecond = jobSamples_ / result_.trainingSeconds;
  }
}

void TrainingRun::noteOutcome() {
  result_.epochs = state_.progress.epoch;
  result_.step = state_.progress.step;
  result_.metrics = state_.context.metrics;
  result_.bestValue = evaluation_.best().best().value;
  result_.bestStep = evaluation_.best().best().step;
  result_.stoppedBy = state_.stop().value_or(StopReason::kEpochs);
  result_.signal = state_.signal();
}

void TrainingRun::tellOfRank(const std::string& text) {
  if (options_.verbose) {
    logFromRank(state_.world(), text, std::cout);
  }
}

void TrainingRun::tellOfStop() {
  if (result_.stoppedBy <= StopReason::kMaxSteps) {
    return;
  }
  const std::string what =
      result_.signal != 0 ? strsignal(result_.signal) : stopReasonText(result_.stoppedBy);
  const std::string& latest = checkpoints_.latest();
  report_.message("stopped at step " + std::to_string(result_.step) + " by " + what +
                  (latest.empty() ? "" : "; checkpoint: " + latest));
}

void TrainingRun::settle() {
  if (loop_) {
    loop_->settle();
  }
}

void TrainingRun::save() {
  settle();  // A run that resumes does not log it again.
  checkpoints_.save(*step_);
  logCheckpoint();
  if (state_.stop() == StopReason::kSignal) {
    if (const Status status = state_.parts().writer.flush(); !status.ok()) {
      report_.message("what was logged is not all on disk: " + status.message());
    }
  }
}

void TrainingRun::saveBest() {
  checkpoints_.saveBest(*step_);
  logCheckpoint();
}

void TrainingRun::logCheckpoint() {
  if (const auto times = checkpoints_.takeTimes()) {
    result_.checkpointSeconds += times->stallSeconds;
    log_.checkpoint(*times);
  }
}

bool TrainingRun::isEvery(std::int64_t interval) const {
  return interval > 0 && state_.progress.step % interval == 0;
}

void TrainingRun::stopAtMaxSteps() {
  if (options_.maxSteps > 0 && state_.progress.step >= options_.maxSteps) {
    state_.stopFor(StopReason::kMaxSteps);
  }
}

}  // namespace steptape::detail::train
