// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/trainer_options.h"

#include <chrono>
#include <sstream>

namespace steptape {
namespace {

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

const char* precisionText(Precision precision) {
  switch (precision) {
    case Precision::kFull:
      return "the model's own";
    case Precision::kBfloat16:
      return "bfloat16";
    case Precision::kFloat16:
      return "float16, scaled loss";
  }
  return "unknown";
}

double secondsOf(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string lengthText(const TrainerOptions& options) {
  std::string text = std::to_string(options.epochs);
  if (options.maxSteps > 0) {
    text += ", at most " + std::to_string(options.maxSteps) + " steps";
  }
  if (options.maxDuration.count() > 0) {
    text += ", at most " + number(secondsOf(options.maxDuration)) + " s";
  }
  return text;
}

std::string learningRateText(const TrainerOptions& options) {
  if (options.learningRate) {
    const LearningRateScheduleOptions& schedule = *options.learningRate;
    std::string text = "x " + number(schedule.scale) + ", warm-up over " +
                       number(schedule.warmUpEpochs) + " epochs";
    for (const double milestone : schedule.milestones) {
      text += ", x " + number(schedule.milestoneFactor) + " at epoch " + number(milestone);
    }
    if (schedule.cosineEpochs > 0) {
      text += ", cosine to " + number(schedule.cosineFinalRate) + " at epoch " +
              number(schedule.cosineEpochs);
    }
    return text;
  }
  return options.scaleLearningRate ? "x ranks" : "constant";
}

std::string evaluationText(const TrainerOptions& options) {
  std::string text = "loss";
  for (const EvaluationMetric& metric : options.metrics) {
    text += ", " + metric.name;
  }
  text += "; every " + std::to_string(options.evaluateEveryEpochs) + " epochs";
  if (options.evaluateEverySteps > 0) {
    text += " and " + std::to_string(options.evaluateEverySteps) + " steps";
  }
  return text;
}

std::string monitorText(const MonitorOptions& monitor) {
  if (monitor.metric.empty()) {
    return "nothing";
  }
  std::string text = monitor.metric + ", better by more than " + number(monitor.minDelta);
  if (monitor.patience > 0) {
    text += ", patience " + std::to_string(monitor.patience);
  }
  text += monitor.keepBest ? ", best kept" : "";
  text += monitor.restoreBest ? " and restored" : "";
  return text;
}

std::string checkpointText(const TrainerOptions& options) {
  if (options.checkpointDirectory.empty()) {
    return "none";
  }
  std::string text = "every epoch";
  if (options.checkpointEverySteps > 0) {
    text += ", " + std::to_string(options.checkpointEverySteps) + " steps";
  }
  if (options.checkpointPeriod.count() > 0) {
    text += ", " + number(secondsOf(options.checkpointPeriod)) + " s";
  }
  return text + "; " + std::to_string(options.keptCheckpoints) + " kept" +
         (options.resume ? "; resumed" : "");
}

}  // namespace

DescriptionRows describeOptions(const TrainerOptions& options) {
  return {{"epochs", lengthText(options)},
          {"loss", options.loss ? "the caller's" : "negative log-likelihood"},
          {"learning rate", learningRateText(options)},
          {"precision", precisionText(options.precision)},
          {"batches per step", std::to_string(options.gradientSync.accumulationSteps)},
          {"gradient norm", options.gradientSync.maxNorm > 0
                                ? "at most " + number(options.gradientSync.maxNorm)
                                : "not limited"},
          {"batches of the ranks", options.unevenBatches ? "may differ in number" : "equally many"},
          {"evaluation", evaluationText(options)},
          {"monitored", monitorText(options.monitor)},
          {"checkpoints", checkpointText(options)},
          {"loss/train", options.reduceTrainLoss ? "of all ranks" : "of the root"},
          {"parts of a step", options.stragglerSteps > 0
                                  ? "every " + std::to_string(options.stragglerSteps) + " steps"
                                  : "not written"}};
}

}  // namespace steptape
