// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "steptape/train/trainer_options.h"

namespace steptape::detail::train {

/// Tracks the best value of the monitored metric over the evaluations.
///
/// @threads Not thread-safe: one thread at a time.
class BestTracker {
 public:
  /// The state that a checkpoint must contain.
  struct State {
    double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN: none yet.
    std::int64_t step = 0;
    std::int64_t evaluationsSince = 0;
  };

  BestTracker(const MonitorOptions& options, bool higherIsBetter)
      : options_(options), higherIsBetter_(higherIsBetter) {}

  /// Adds the value of an evaluation.
  /// @return whether it is the best so far.
  bool observe(double value, std::int64_t step);

  /// Returns whether patience is exhausted.
  bool isExhausted() const {
    return options_.patience > 0 && best_.evaluationsSince >= options_.patience;
  }

  const State& best() const { return best_; }
  void restore(const State& state) { best_ = state; }

 private:
  MonitorOptions options_;
  bool higherIsBetter_;
  State best_;
};

}  // namespace steptape::detail::train
