// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace steptape {

/// Which metric decides what the best model is, and when to stop.
struct MonitorOptions {
  /// "loss" or the name of one of TrainerOptions::metrics. Empty: none is watched.
  std::string metric;
  /// Stop after this many evaluations in a row without a better value. 0: never.
  std::int64_t patience = 0;
  /// Differences up to this are no improvement. NaN never is one.
  double minDelta = 0;
  /// Write `checkpoint_best.pt` beside the other checkpoints whenever the metric is better than
  /// before.
  bool keepBest = false;
  /// End with that model and optimizer: the model is judged once more, and TrainingResult::metrics
  /// are its own. Needs keepBest.
  bool restoreBest = false;
};

}  // namespace steptape
