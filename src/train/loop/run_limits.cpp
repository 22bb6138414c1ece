// SPDX-License-Identifier: Apache-2.0
#include "train/loop/run_limits.h"

namespace steptape::detail::train {
namespace {

bool isOver(double seconds, std::int64_t sinceNanos) {
  return seconds > 0 &&
         static_cast<double>(Clock::system().steadyNanos() - sinceNanos) * 1e-9 >= seconds;
}

}  // namespace

RunLimits::RunLimits(const TrainerOptions& options, bool isRoot)
    : maxSeconds_(isRoot ? options.maxSeconds : 0),
      checkpointSeconds_(isRoot ? options.checkpointEverySeconds : 0),
      startNanos_(Clock::system().steadyNanos()),
      lastCheckpointNanos_(startNanos_),
      signals_(options.stopSignals) {}

StepWish RunLimits::wish() const {
  StepWish wish;
  wish.checkpoint = isOver(checkpointSeconds_, lastCheckpointNanos_);
  wish.signal = signals_.received();
  if (wish.signal != 0) {
    wish.stop = StopReason::kSignal;
  } else if (isOver(maxSeconds_, startNanos_)) {
    wish.stop = StopReason::kMaxSeconds;
  }
  return wish;
}

}  // namespace steptape::detail::train
