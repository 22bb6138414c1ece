// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/trainer_callback.h"

#include <algorithm>
#include <string>

#include "steptape/base/error.h"

namespace steptape {

double TrainingContext::metric(std::string_view name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const MetricValue& metric) { return metric.name == name; });
  if (found == metrics.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                "TrainingContext: no metric " + std::string(name) + " was evaluated" +
                    (metrics.empty() ? ", since there was no evaluation yet" : ""));
  }
  return found->value;
}

TrainerCallback::~TrainerCallback() = default;

void TrainerCallback::beforeFit(TrainingContext& /*context*/) {}
void TrainerCallback::afterFit(TrainingContext& /*context*/) {}
void TrainerCallback::beforeEpoch(TrainingContext& /*context*/) {}
void TrainerCallback::afterEpoch(TrainingContext& /*context*/) {}
void TrainerCallback::beforeBatch(TrainingContext& /*context*/) {}
void TrainerCallback::afterBatch(TrainingContext& /*context*/) {}
void TrainerCallback::beforeEvaluation(TrainingContext& /*context*/) {}
void TrainerCallback::afterEvaluation(TrainingContext& /*context*/) {}

const char* trainerEventName(TrainerEvent event) {
  switch (event) {
    case TrainerEvent::kBeforeFit:
      return "beforeFit";
    case TrainerEvent::kAfterFit:
      return "afterFit";
    case TrainerEvent::kBeforeEpoch:
      return "beforeEpoch";
    case TrainerEvent::kAfterEpoch:
      return "afterEpoch";
    case TrainerEvent::kBeforeBatch:
      return "beforeBatch";
    case TrainerEvent::kAfterBatch:
      return "afterBatch";
    case TrainerEvent::kBeforeEvaluation:
      return "beforeEvaluation";
    case TrainerEvent::kAfterEvaluation:
      return "afterEvaluation";
  }
  return "unknown";
}

}  // namespace steptape
