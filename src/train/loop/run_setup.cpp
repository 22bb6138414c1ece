// SPDX-License-Identifier: Apache-2.0
#include "train/loop/run_setup.h"

#include <string>

#include "steptape/base/status.h"
#include "steptape/train/recipe.h"

#include "train/replicas/model/optimizer_archive.h"
#include "train/replicas/model/tensor_schema.h"

#include <torch/nn/module.h>

namespace steptape::detail::train {
namespace {

constexpr const char* kWho = "Trainer";

/// Options that describeOptions() omits as uninteresting to a reader, although they change what a
/// rank does.
void addUndescribed(const TrainerOptions& options, TensorSchema& schema) {
  const auto add = [&schema](const char* name, auto value) {
    schema.add(std::string(name) + " = " + std::to_string(value));
  };
  add("resume", options.resume);
  add("checkpointEverySteps", options.checkpointEverySteps);
  add("checkpointPeriod", options.checkpointPeriod.count());
  add("keptCheckpoints", options.keptCheckpoints);
  add("asyncCheckpoints", options.asyncCheckpoints);
  add("monitor.keepBest", options.monitor.keepBest);
  add("monitor.restoreBest", options.monitor.restoreBest);
  add("logConfiguration", options.logConfiguration);
  add("lossScale.initial", options.lossScale.initial);
  add("lossScale.growthFactor", options.lossScale.growthFactor);
  add("lossScale.backoffFactor", options.lossScale.backoffFactor);
  add("lossScale.growthSteps", options.lossScale.growthSteps);
  add("tokensPerSample", options.tokensPerSample);
  add("machineMetrics", options.machineMetrics.has_value());
  add("parameterNormSteps", options.parameterNormSteps);
  add("detailScalars", options.detailScalars);
  add("profiledSteps", options.profiledSteps);
  add("profilingShare", options.profilingShare);
  add("profileTrigger.signal", options.profileTrigger.signal);
  schema.add("profileTrigger.file = " + options.profileTrigger.file);
  for (const EvaluationMetric& metric : options.metrics) {
    schema.add(metric.name + (metric.higherIsBetter ? ": higher is better" : ": lower is better"));
  }
}

}  // namespace

c10::Device deviceOf(const TrainerParts& parts) {
  if (parts.options.useDevices) {
    return deviceForLocalRank(*parts.world);
  }
  const std::vector<at::Tensor> parameters = parts.module->parameters();
  return parameters.empty() ? c10::Device(c10::kCPU) : parameters.front().device();
}

bool higherIsBetter(const TrainerOptions& options) {
  const std::string& name = options.monitor.metric;
  if (name.empty() || name == "loss") {
    return false;
  }
  for (const EvaluationMetric& metric : options.metrics) {
    if (metric.name == name) {
      return metric.higherIsBetter;
    }
  }
  throw Error(ErrorCode::kInvalidArgument,
              "MonitorOptions::metric: got \"" + name +
                  "\"; expected \"loss\" or the name of one of TrainerOptions::metrics");
}

void checkRanksAgree(const TrainerParts& parts, const BatchLoader& train) {
  const TrainerOptions& options = parts.options;
  TensorSchema schema;
  for (const auto& [name, value] : describeOptions(options)) {
    schema.add(name + ": " + value);
  }
  addUndescribed(options, schema);
  schema.add("seed of the training data: " + std::to_string(train.seed()));
  if (!options.unevenBatches) {
    const std::int64_t batches = train.batches();
    schema.add("training batches per epoch: " +
               (batches < 0 ? "unknown" : std::to_string(batches)));
  }
  schema.checkSameOnAllRanks(*parts.world, kWho, "run");
}

void checkOptimizersAgree(const TrainerParts& parts) {
  schemaWithOptionsOf(parts.optimizer).checkSameOnAllRanks(*parts.world, kWho, "optimizer");
}

}  // namespace steptape::detail::train
