// SPDX-License-Identifier: Apache-2.0
#include "train/loop/run_limits.h"

namespace steptape::detail::train {
namespace {

bool isOver(std::chrono::nanoseconds limit, std::int64_t sinceNanos) {
  return limit.count() > 0 && Clock::system().steadyNanos() - sinceNanos >= limit.count();
}

}  // namespace

RunLimits::RunLimits(const TrainerOptions& options, bool isRoot)
    : maxDuration_(isRoot ? options.maxDuration : std::chrono::nanoseconds(0)),
      checkpointPeriod_(isRoot ? options.checkpointPeriod : std::chrono::nanoseconds(0)),
      startNanos_(Clock::system().steadyNanos()),
      lastCheckpointNanos_(startNanos_),
      signals_(options.stopSignals) {}

StepWish RunLimits::wish() const {
  StepWish wish;
  wish.checkpoint = isOver(checkpointPeriod_, lastCheckpointNanos_);
  wish.signal = signals_.received();
  if (wish.signal != 0) {
    wish.stop = StopReason::kSignal;
  } else if (isOver(maxDuration_, startNanos_)) {
    wish.stop = StopReason::kMaxDuration;
  }
  return wish;
}

}  // namespace steptape::detail::train
