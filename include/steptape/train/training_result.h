// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// Reason why Trainer::fit() ended. If several apply to one step, it is the last of them in this
/// order.
enum class StopReason : std::uint8_t {
  kEpochs,      ///< TrainerOptions::epochs were completed.
  kMaxSteps,    ///< TrainerOptions::maxSteps were completed.
  kMaxSeconds,  ///< TrainerOptions::maxSeconds had passed.
  kMonitor,     ///< The monitored metric did not improve for MonitorOptions::patience evaluations.
  kCallback,    ///< A callback called TrainingContext::stop().
  kSignal,      ///< A rank received one of TrainerOptions::stopSignals.
};

/// Returns the reason as text, such as "the time limit".
STEPTAPE_EXPORT const char* stopReasonText(StopReason reason);

/// The value of a metric over all ranks' samples.
struct MetricValue {
  std::string name;  ///< Such as "accuracy".
  double value = 0;
};

/// Result of Trainer::fit(); the same on every rank, except the times.
///
///     const steptape::TrainingResult result = trainer.fit(train, test);
///     result.metric("loss");
///     result.metric("accuracy");  // if it was in TrainerOptions::metrics
struct STEPTAPE_EXPORT TrainingResult {
  std::int64_t epochs = 0;     ///< Completed epochs, including those before a resume.
  std::int64_t step = 0;       ///< Steps done since the start of the run.
  double trainingSeconds = 0;  ///< Time in training steps, including logging, excluding evaluation.
  /// trainingSeconds scaled to one whole epoch; NaN if the length of an epoch is unknown.
  double secondsPerEpoch = 0;
  double samplesPerSecond = 0;  ///< Training samples of all ranks per second of trainingSeconds.
  /// Floating-point operations of forward and backward per sample, by FlopCounter; 0 if no operator
  /// counts.
  double flopsPerSample = 0;
  double loggingSeconds = 0;     ///< Time that this thread spent in the writer's calls.
  double checkpointSeconds = 0;  ///< Time for which checkpoints held up this thread.

  StopReason stoppedBy = StopReason::kEpochs;
  int signal = 0;  ///< The signal that stopped the run, or 0.

  /// Results of the last evaluation: "loss", then TrainerOptions::metrics in their order. Empty if
  /// the run was stopped before its first evaluation.
  std::vector<MetricValue> metrics;
  /// Returns the value of `name` in `metrics`.
  ///
  /// @throws Error(kInvalidArgument) if it was not evaluated, naming the metrics that were.
  double metric(std::string_view name) const;

  /// The best value of the monitored metric and the step after which it was measured; NaN and 0 if
  /// there is none.
  double bestValue = 0;
  std::int64_t bestStep = 0;
};

}  // namespace steptape
