// SPDX-License-Identifier: Apache-2.0
#include "trainer/run_setup.h"

#include <string>

#include "steptape/base/error.h"
#include "steptape/trainer/recipe.h"
#include "steptape/trainer/run_description.h"

#include "trainer/tensor_schema.h"

#include <torch/nn/module.h>

namespace steptape::detail {

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
              "Trainer was told to monitor " + name +
                  ", wanted loss or the name of one of TrainerOptions::metrics");
}

void checkRanksAgree(const TrainerOptions& options, const BatchLoader& train, Communicator& world) {
  TensorSchema schema;
  for (const auto& [name, value] : describeOptions(options)) {
    schema.add(name + ": " + value);
  }
  if (!options.unevenBatches) {
    schema.add("training batches per epoch: " + std::to_string(train.batches()));
  }
  schema.checkSameOnAllRanks(world, "Trainer", "run");
}

}  // namespace steptape::detail
