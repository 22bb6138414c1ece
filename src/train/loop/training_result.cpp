// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/status.h"
#include "steptape/train/trainer_options.h"

#include "train/loop/metric_lookup.h"

namespace steptape {

double detail::train::metricIn(const std::vector<MetricValue>& metrics, std::string_view name,
                               const char* who) {
  std::string evaluated;
  for (const MetricValue& metric : metrics) {
    if (metric.name == name) {
      return metric.value;
    }
    evaluated += (evaluated.empty() ? "" : ", ") + metric.name;
  }
  throw Error(ErrorCode::kInvalidArgument,
              std::string(who) + ": no metric " + std::string(name) + " was evaluated" +
                  (metrics.empty() ? ", since there was no evaluation yet"
                                   : "; got " + evaluated +
                                         "; expected one of these, or more in "
                                         "TrainerOptions::metrics"));
}

double TrainingResult::metric(std::string_view name) const {
  return detail::train::metricIn(metrics, name, "TrainingResult");
}

const char* stopReasonText(StopReason reason) {
  switch (reason) {
    case StopReason::kEpochs:
      return "the end of the last epoch";
    case StopReason::kMaxSteps:
      return "the limit of steps";
    case StopReason::kMaxDuration:
      return "the time limit";
    case StopReason::kMonitor:
      return "a metric that improves no more";
    case StopReason::kCallback:
      return "a callback";
    case StopReason::kSignal:
      return "a signal";
  }
  return "unknown";
}

}  // namespace steptape
