// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// Why Trainer::fit() ended. Where several reasons meet in one step, the later one here is given.
enum class StopReason : std::uint8_t {
  kEpochs,      ///< TrainerOptions::epochs were done.
  kMaxSteps,    ///< TrainerOptions::maxSteps were done.
  kMaxSeconds,  ///< TrainerOptions::maxSeconds were over.
  kMonitor,     ///< The monitored metric did not improve for MonitorOptions::patience evaluations.
  kCallback,    ///< A callback called TrainingContext::stop().
  kSignal,      ///< A rank was sent one of TrainerOptions::stopSignals.
};

/// For people, such as "the time limit".
STEPTAPE_EXPORT const char* stopReasonText(StopReason reason);

/// The value of a metric over all ranks' samples.
struct MetricValue {
  std::string name;  ///< Such as "accuracy".
  double value = 0;
};

/// What came out of Trainer::fit(); the same on every rank but for the times.
///
///     const steptape::TrainingResult result = trainer.fit(train, test);
///     result.metric("loss");
///     result.metric("accuracy");  // if TrainerOptions::metrics had it
struct STEPTAPE_EXPORT TrainingResult {
  std::int64_t epochs = 0;     ///< Epochs that were finished, those before a resume included.
  std::int64_t step = 0;       ///< Steps done since the start of the run.
  double trainingSeconds = 0;  ///< Time in training steps, logging included, evaluation not.
  /// trainingSeconds, scaled to one whole epoch; NaN if its length was not known yet.
  double secondsPerEpoch = 0;
  double samplesPerSecond = 0;  ///< Training samples of all ranks per second of trainingSeconds.
  double loggingSeconds = 0;    ///< Part of all time that this thread spent in the writer's calls.

  StopReason stoppedBy = StopReason::kEpochs;
  int signal = 0;  ///< The signal that stopped the run, or 0.

  /// Of the last evaluation: "loss", then TrainerOptions::metrics in their order. Empty if the run
  /// was stopped before its first evaluation.
  std::vector<MetricValue> metrics;
  /// The value of `name` in `metrics`.
  ///
  /// @throws Error(kInvalidArgument) if it was not evaluated, naming those that were.
  double metric(std::string_view name) const;

  /// The best value that the monitored metric had, and after which step. NaN and 0 without one.
  double bestValue = 0;
  std::int64_t bestStep = 0;
};

}  // namespace steptape
