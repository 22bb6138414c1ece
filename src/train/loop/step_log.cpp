// SPDX-License-Identifier: Apache-2.0
#include "train/loop/step_log.h"

#include <cmath>

#include "steptape/libtorch/tensor_traits.h"

#include "train/loop/run_charts.h"

#include <torch/nn/module.h>

namespace steptape::detail::train {
namespace {

constexpr const char* kLossTag = "loss/train";

}  // namespace

StepLog::LossTags::LossTags(SummaryWriter& run)
    : mean(run.scalarTag(kLossTag)),
      min(run.scalarTag(std::string(kLossTag) + "/min")),
      max(run.scalarTag(std::string(kLossTag) + "/max")) {}

StepLog::StepLog(DistributedWriter& writer, const TrainerOptions& options)
    : writer_(writer),
      job_(writer.jobWriter()),
      reducesLoss_(options.reduceTrainLoss && writer.communicator()->size() > 1),
      ranksHaveRuns_(writer.rankPolicy() == RankPolicy::kPerRank),
      writesDetail_(options.detailScalars),
      clips_(options.gradientSync.maxNorm > 0),
      ownLoss_(writer.scalarTag(kLossTag)),
      loss_(job_),
      learningRate_(job_.scalarTag("optimizer/learning_rate")),
      gradientNorm_(job_.scalarTag("optimizer/gradient_norm")),
      lossScale_(job_.scalarTag("optimizer/loss_scale")) {
  job_.addCustomScalars(runCharts(options, reducesLoss_));
}

void StepLog::step(const Values& values, std::int64_t step) {
  const Stopwatch::Scope timing(time_);
  if (ranksHaveRuns_) {
    writer_.addScalar(ownLoss_, values.loss, step);
  }
  StepBatch scalars = job_.atStep(step);
  if (reducesLoss_) {
    scalars.add(loss_.mean, values.lossOfRanks.mean());
    scalars.add(loss_.min, values.lossOfRanks.min);
    scalars.add(loss_.max, values.lossOfRanks.max);
  } else {
    scalars.add(loss_.mean, values.loss);
  }
  scalars.add(learningRate_, values.learningRate);
  if (!std::isnan(values.gradientNorm)) {
    scalars.add(gradientNorm_, values.gradientNorm);
  }
  if (values.lossScale > 0) {
    scalars.add(lossScale_, values.lossScale);
  }
}

void StepLog::throughput(const Throughput& speed, std::int64_t step) {
  const Stopwatch::Scope timing(time_);
  StepBatch scalars = job_.atStep(step);
  if (speed.tokensPerSecond > 0) {
    scalars.add("tokens_per_second", speed.tokensPerSecond);
  } else {
    scalars.add("samples_per_second", speed.samplesPerSecond);
  }
  if (speed.teraflopsPerSecond > 0) {
    scalars.add("teraflops_per_second", speed.teraflopsPerSecond);
  }
}

void StepLog::epoch(const EpochStatus& status, std::int64_t step) {
  if (writesDetail_) {
    const Stopwatch::Scope timing(time_);
    job_.addScalar("epoch_seconds", status.seconds, step);
  }
}

void StepLog::checkpoint(const CheckpointTimes& times) {
  if (writesDetail_) {
    const Stopwatch::Scope timing(time_);
    job_.addScalar("checkpoint/stall_seconds", times.stallSeconds, times.step);
    job_.addScalar("checkpoint/write_seconds", times.writeSeconds, times.step);
  }
}

void StepLog::histograms(const torch::nn::Module& module, std::int64_t step) {
  const Stopwatch::Scope timing(time_);
  for (const auto& parameter : module.named_parameters()) {
    writer_.addHistogram("parameters/" + parameter.key(), parameter.value(), step);
    if (parameter.value().grad().defined()) {
      writer_.addHistogram("parameter_gradients/" + parameter.key(), parameter.value().grad(),
                           step);
    }
  }
}

std::optional<RequestedNorms> StepLog::requestNorms(const torch::nn::Module& module) {
  if (!job_.isEnabled()) {
    return std::nullopt;
  }
  const Stopwatch::Scope timing(time_);
  return RequestedNorms(module);
}

void StepLog::norms(const ParameterNorms& norms, double clipFactor, std::int64_t step) {
  const Stopwatch::Scope timing(time_);
  StepBatch scalars = job_.atStep(step);
  for (const MetricValue& norm : norms.parameters) {
    scalars.add("parameter_norms/" + norm.name, norm.value);
  }
  for (const MetricValue& norm : norms.gradients) {
    scalars.add("parameter_gradient_norms/" + norm.name, norm.value / clipFactor);
  }
  scalars.add("optimizer/parameter_norm", totalNorm(norms.parameters));
  if (!clips_) {
    scalars.add(gradientNorm_, totalNorm(norms.gradients));
  }
}

}  // namespace steptape::detail::train
