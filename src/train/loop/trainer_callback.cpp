// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/trainer_callback.h"

#include "train/loop/metric_lookup.h"
#include "train/loop/step_loss.h"

namespace steptape {

double TrainingContext::loss() const {
  return (loss_ ? *loss_ : detail::train::StepLoss()).value();
}

double TrainingContext::metric(std::string_view name) const {
  return detail::train::metricIn(metrics, name, "TrainingContext");
}

TrainerCallback::~TrainerCallback() = default;

void TrainerCallback::beforeFit(TrainingContext& /*context*/) {}
void TrainerCallback::afterFit(TrainingContext& /*context*/) {}
void TrainerCallback::beforeEpoch(TrainingContext& /*context*/) {}
void TrainerCallback::afterEpoch(TrainingContext& /*context*/) {}
void TrainerCallback::beforeBatch(TrainingContext& /*context*/) {}
void TrainerCallback::afterBatch(TrainingContext& /*context*/) {}
void TrainerCallback::afterStep(TrainingContext& /*context*/) {}
void TrainerCallback::beforeEvaluation(TrainingContext& /*context*/) {}
void TrainerCallback::afterEvaluation(TrainingContext& /*context*/) {}
void TrainerCallback::onException(TrainingContext& /*context*/) noexcept {}
void TrainerCallback::saveState(TrainingProgress& /*progress*/) const {}
void TrainerCallback::loadState(const TrainingProgress& /*progress*/) {}

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
    case TrainerEvent::kAfterStep:
      return "afterStep";
    case TrainerEvent::kBeforeEvaluation:
      return "beforeEvaluation";
    case TrainerEvent::kAfterEvaluation:
      return "afterEvaluation";
  }
  return "unknown";
}

}  // namespace steptape
