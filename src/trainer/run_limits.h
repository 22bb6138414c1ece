// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "steptape/base/clock.h"
#include "steptape/base/signal_watch.h"
#include "steptape/trainer/trainer_options.h"

#include "trainer/step_exchange.h"

namespace steptape::detail {

/// What comes to one rank from outside: signals, and on the root the time.
///
/// Not thread-safe: one thread at a time.
class RunLimits {
 public:
  /// Starts the clock and catches TrainerOptions::stopSignals until the end of its life.
  RunLimits(const TrainerOptions& options, bool isRoot);

  /// What this rank wants now.
  StepWish wish() const;

  /// A checkpoint has been written: the time to the next one begins.
  void checkpointWritten() { lastCheckpointNanos_ = Clock::system().steadyNanos(); }

 private:
  double maxSeconds_;         ///< 0 on other ranks than the root.
  double checkpointSeconds_;  ///< The same.
  std::int64_t startNanos_;
  std::int64_t lastCheckpointNanos_;
  SignalWatch signals_;
};

}  // namespace steptape::detail
