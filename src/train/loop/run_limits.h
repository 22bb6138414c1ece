// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "steptape/base/clock.h"
#include "steptape/base/signal_watch.h"
#include "steptape/train/trainer_options.h"

#include "train/loop/step_exchange.h"

namespace steptape::detail::train {

/// The external events that a rank receives: signals, and on the root also time limits.
///
/// @threads Not thread-safe: one thread at a time.
class RunLimits {
 public:
  /// Starts the clock, and catches TrainerOptions::stopSignals during its lifetime.
  RunLimits(const TrainerOptions& options, bool isRoot);

  /// Returns this rank's current request.
  StepWish wish() const;

  /// Records that a checkpoint was written: restarts the time to the next one.
  void checkpointWritten() { lastCheckpointNanos_ = Clock::system().steadyNanos(); }

 private:
  std::chrono::nanoseconds maxDuration_;       ///< 0 on ranks other than the root.
  std::chrono::nanoseconds checkpointPeriod_;  ///< 0 on ranks other than the root.
  std::int64_t startNanos_;
  std::int64_t lastCheckpointNanos_;
  SignalWatch signals_;
};

}  // namespace steptape::detail::train
