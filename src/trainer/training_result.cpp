// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/training_result.h"

namespace steptape {

const char* stopReasonText(StopReason reason) {
  switch (reason) {
    case StopReason::kEpochs:
      return "the end of the last epoch";
    case StopReason::kMaxSteps:
      return "the limit of steps";
    case StopReason::kMaxSeconds:
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
