// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/trainer.h"

#include <optional>
#include <string>

#include "steptape/base/clock.h"
#include "steptape/base/error.h"
#include "steptape/distributed/metric_average.h"
#include "steptape/torch/op_profiler.h"
#include "steptape/torch/tensor_traits.h"
#include "steptape/trainer/broadcast.h"
#include "steptape/trainer/checkpoint.h"
#include "steptape/trainer/recipe.h"

#include "trainer/progress_report.h"
#include "trainer/stopwatch.h"

#include <ATen/ops/nll_loss.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

namespace steptape {
namespace {

at::Tensor negativeLogLikelihood(const at::Tensor& output, const at::Tensor& targets) {
  return at::nll_loss(output, targets);
}

void checkSameBatches(const BatchLoader& train, Communicator& world) {
  const std::string own = std::to_string(train.batches());
  const std::vector<std::string> all = world.allgather(own);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all.front()) {
      throw Error(ErrorCode::kRankMismatch,
                  "Trainer: rank " + std::to_string(rank) + " has " + all[rank] +
                      " training batches per epoch, wanted " + all.front() +
                      " as rank 0; deal the samples with evenShares = true");
    }
  }
  if (train.batches() == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "Trainer got no training batches, wanted at least one");
  }
}

ProfilerOptions profilerOptions(std::int64_t steps) {
  ProfilerOptions options;
  options.schedule.skipFirst = kStepsBeforeProfile;
  options.schedule.warmup = 1;
  options.schedule.active = steps;
  options.schedule.repeat = 1;
  return options;
}

}  // namespace

class Trainer::Impl {
 public:
  Impl(std::shared_ptr<torch::nn::Module> module,
       std::function<at::Tensor(const at::Tensor&)> forward, torch::optim::Optimizer& optimizer,
       std::shared_ptr<Communicator> world, DistributedWriter& writer, TrainerOptions options)
      : module_(std::move(module)),
        forward_(std::move(forward)),
        optimizer_(optimizer),
        world_(std::move(world)),
        writer_(writer),
        options_(std::move(options)),
        report_(options_.progress, world_->isRoot()) {
    if (!options_.loss) {
      options_.loss = negativeLogLikelihood;
    }
    if (options_.scaleLearningRate) {
      scaleLearningRate(optimizer_, world_->size());
    }
  }

  TrainingResult fit(BatchLoader& train, BatchLoader& test) {
    checkSameBatches(train, *world_);
    broadcastParameters(*module_, *world_);
    sync_.emplace(module_->named_parameters(), world_, options_.gradientSync);
    state_.seed = train.seed();
    if (options_.resume) {
      resume(train);
    }
    startProfile();
    bool evaluated = false;
    while (state_.epoch < options_.epochs && !reachedMaxSteps()) {
      trainEpoch(train);
      evaluate(test);
      finishEpoch();
      evaluated = true;
    }
    if (!evaluated) {
      evaluate(test);
    }
    finishProfile();
    checkParametersAreEqual(*module_, *world_);
    return result(train.batches());
  }

 private:
  bool reachedMaxSteps() const { return options_.maxSteps > 0 && state_.step >= options_.maxSteps; }

  void resume(const BatchLoader& train) {
    if (options_.checkpointDirectory.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "Trainer was told to resume without a checkpointDirectory");
    }
    if (!checkpointExists(checkpoint_, *world_)) {
      report_.message("no checkpoint at " + checkpoint_ + " yet: starting from the beginning");
      return;
    }
    state_ = loadCheckpoint(checkpoint_, *module_, optimizer_, *world_);
    if (state_.seed != train.seed()) {
      throw Error(ErrorCode::kInvalidArgument,
                  checkpoint_ + " was written by a run with the seed " +
                      std::to_string(state_.seed) + ", got " + std::to_string(train.seed()) +
                      "; the order of the samples would differ");
    }
    if (state_.stepInEpoch > 0 && state_.ranks != world_->size()) {
      throw Error(ErrorCode::kInvalidArgument, checkpoint_ +
                                                   " was written in the middle of an epoch on " +
                                                   std::to_string(state_.ranks) + " ranks, got " +
                                                   std::to_string(world_->size()));
    }
    if (options_.scaleLearningRate) {
      scaleLearningRate(optimizer_, static_cast<double>(world_->size()) / state_.ranks);
    }
    report_.message("resumed from " + checkpoint_ + " at step " + std::to_string(state_.step));
  }

  void trainEpoch(BatchLoader& train) {
    module_->train();
    train.startEpoch(state_.epoch, state_.stepInEpoch);
    epochStart_ = trainingTime_.seconds();
    epochSamples_ = 0;
    const detail::Stopwatch::Scope timing(trainingTime_);
    Batch batch;
    while (!reachedMaxSteps() && train.next(batch)) {
      trainStep(batch);
      logStep();
      if (profiler_) {
        stepProfile();
      }
      if (report_.wantsStep()) {
        report_.step(status(train.batches()));
      }
    }
    epochStatus_ = status(train.batches());
    if (state_.stepInEpoch == train.batches()) {
      ++state_.epoch;
      state_.stepInEpoch = 0;
    }
    if (options_.histograms) {
      logHistograms();
    }
  }

  void trainStep(const Batch& batch) {
    optimizer_.zero_grad();
    const at::Tensor loss = options_.loss(forward_(batch.inputs), batch.targets);
    loss.backward();
    sync_->synchronize();
    optimizer_.step();
    loss_ = loss.item<double>();
    epochSamples_ += batch.size();
    samples_ += batch.size();
    ++state_.stepInEpoch;
    ++state_.step;
    ++steps_;
  }

  void logStep() {
    const detail::Stopwatch::Scope timing(loggingTime_);
    StepBatch scalars = writer_.atStep(state_.step);
    scalars.add(lossTag_, loss_);
    scalars.add(learningRateTag_, learningRateOf(optimizer_));
  }

  void logHistograms() {
    const detail::Stopwatch::Scope timing(loggingTime_);
    for (const auto& parameter : module_->named_parameters()) {
      writer_.addHistogram("parameters/" + parameter.key(), parameter.value(), state_.step);
      if (parameter.value().grad().defined()) {
        writer_.addHistogram("gradients/" + parameter.key(), parameter.value().grad(), state_.step);
      }
    }
  }

  void evaluate(BatchLoader& test) {
    // Every rank has kept batch statistics of its own samples; all are to judge the same model.
    if (module_->buffers().size() > 0) {
      broadcastParameters(*module_, *world_);
    }
    const at::NoGradGuard noGradients;
    module_->eval();
    test.startEpoch(0);
    double lossSum = 0;
    std::int64_t correct = 0;
    std::int64_t total = 0;
    Batch batch;
    while (test.next(batch)) {
      const at::Tensor output = forward_(batch.inputs);
      lossSum +=
          options_.loss(output, batch.targets).item<double>() * static_cast<double>(batch.size());
      correct += output.argmax(1).eq(batch.targets).sum().item<std::int64_t>();
      total += batch.size();
    }
    testLoss_ = metricAverage(*world_, lossSum, total);
    testAccuracy_ = metricAverage(*world_, correct, total);
    logEvaluation(lossSum, correct, total);
  }

  void logEvaluation(double lossSum, std::int64_t correct, std::int64_t total) {
    const detail::Stopwatch::Scope timing(loggingTime_);
    ReducedOptions options;
    options.weight = static_cast<double>(total);
    const double samples = static_cast<double>(std::max<std::int64_t>(total, 1));
    writer_.addReduced("loss/test", lossSum / samples, state_.step, options);
    writer_.addReduced("accuracy/test", static_cast<double>(correct) / samples, state_.step,
                       options);
    writer_.reduce(state_.step);
  }

  void finishEpoch() {
    {
      const detail::Stopwatch::Scope timing(loggingTime_);
      writer_.addScalar("epoch_seconds", epochStatus_.seconds, state_.step);
      writer_.addScalar("samples_per_second", epochStatus_.samplesPerSecond, state_.step);
    }
    report_.epoch(epochStatus_, testLoss_, testAccuracy_);
    if (!options_.checkpointDirectory.empty()) {
      saveCheckpoint(checkpoint_, *module_, optimizer_, state_, *world_);
    }
  }

  void startProfile() {
    if (options_.profiledSteps > 0 && world_->isRoot()) {
      profiler_.emplace(profilerOptions(options_.profiledSteps));
    }
  }

  void stepProfile() {
    profiler_->step();
    if (steps_ > kStepsBeforeProfile + options_.profiledSteps) {
      finishProfile();
    }
  }

  void finishProfile() {
    if (!profiler_) {
      return;
    }
    profiler_->stop();
    const detail::Stopwatch::Scope timing(loggingTime_);
    profiler_->writeTo(writer_, state_.step);
    profiler_.reset();
  }

  detail::EpochStatus status(std::int64_t batches) const {
    detail::EpochStatus status;
    status.epoch = state_.epoch + 1;
    status.epochs = options_.epochs;
    status.step = state_.stepInEpoch;
    status.steps = batches;
    status.loss = loss_;
    status.seconds = trainingTime_.seconds() - epochStart_;
    const double samples = static_cast<double>(epochSamples_ * world_->size());
    status.samplesPerSecond = samples / status.seconds;
    status.secondsLeft = status.seconds * static_cast<double>(batches - state_.stepInEpoch) /
                         static_cast<double>(state_.stepInEpoch);
    return status;
  }

  TrainingResult result(std::int64_t batches) {
    TrainingResult result;
    result.epochs = state_.epoch;
    result.step = state_.step;
    result.testLoss = testLoss_;
    result.testAccuracy = testAccuracy_;
    result.trainingSeconds = trainingTime_.seconds();
    result.loggingSeconds = loggingTime_.seconds();
    if (steps_ > 0) {
      result.secondsPerEpoch =
          result.trainingSeconds * static_cast<double>(batches) / static_cast<double>(steps_);
      result.samplesPerSecond =
          static_cast<double>(samples_ * world_->size()) / result.trainingSeconds;
    }
    return result;
  }

  std::shared_ptr<torch::nn::Module> module_;
  std::function<at::Tensor(const at::Tensor&)> forward_;
  torch::optim::Optimizer& optimizer_;
  std::shared_ptr<Communicator> world_;
  DistributedWriter& writer_;
  TrainerOptions options_;
  std::string checkpoint_ = checkpointPath(options_.checkpointDirectory);
  detail::ProgressReport report_;
  std::optional<GradientSync> sync_;
  std::optional<OpProfiler> profiler_;
  ScalarTag lossTag_ = writer_.scalarTag("loss/train");
  ScalarTag learningRateTag_ = writer_.scalarTag("learning_rate");

  TrainingProgress state_;
  std::int64_t steps_ = 0;    ///< Made by this process, as are the samples.
  std::int64_t samples_ = 0;  ///< Of this rank.
  std::int64_t epochSamples_ = 0;
  double epochStart_ = 0;  ///< What trainingTime_ showed when the epoch began.
  detail::EpochStatus epochStatus_;
  double loss_ = 0;
  double testLoss_ = 0;
  double testAccuracy_ = 0;
  detail::Stopwatch trainingTime_;
  detail::Stopwatch loggingTime_;
};

Trainer::Trainer(std::shared_ptr<torch::nn::Module> module,
                 std::function<at::Tensor(const at::Tensor&)> forward,
                 torch::optim::Optimizer& optimizer, std::shared_ptr<Communicator> world,
                 DistributedWriter& writer, TrainerOptions options)
    : impl_(std::make_unique<Impl>(std::move(module), std::move(forward), optimizer,
                                   std::move(world), writer, std::move(options))) {}

Trainer::~Trainer() = default;

TrainingResult Trainer::fit(BatchLoader& train, BatchLoader& test) {
  return impl_->fit(train, test);
}

}  // namespace steptape
