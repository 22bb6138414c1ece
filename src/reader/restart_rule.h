// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "steptape/reader/run_reader.h"

namespace steptape::detail {

/// Decides whether an event of a run, given in order, discards earlier points.
///
/// Files since `brain.Event:2` have START events for that. In older ones a step that goes back
/// tells it, and a START means nothing. A version holds until a file says another; until the first
/// one the files are taken for old.
///
/// @threads Not thread-safe: one thread at a time.
/// @source  tensorboard/backend/event_processing/event_accumulator.py at 2.21, and
///          plugin_event_accumulator.py there for PurgePolicy::kTensorBoardServer
class RestartRule {
 public:
  explicit RestartRule(PurgePolicy policy) : policy_(policy) {}

  /// A file says its version. @param hasRestarts As detail::hasRestarts().
  void takeVersion(bool hasRestarts) {
    knowsVersion_ = true;
    hasRestarts_ = hasRestarts;
  }

  /// Bytes were damaged and passed over. The version may have been among them, and every writer
  /// since 2015 gives the same.
  void takeDamage() {
    if (!knowsVersion_) {
      takeVersion(true);
    }
  }

  /// A START was read. @return whether it drops what lies before it at its step or later.
  bool takeStart() {
    if (watchesSteps()) {
      return false;
    }
    const bool isFirst = !std::exchange(hasStarted_, true);
    return policy_ == PurgePolicy::kRestarts ||
           (policy_ == PurgePolicy::kTensorBoardServer && !isFirst);
  }

  bool knowsVersion() const { return knowsVersion_; }

  /// Whether a summary whose step is before that of the summary before it drops its tags' points at
  /// its step or later.
  bool watchesSteps() const { return policy_ != PurgePolicy::kNone && !hasRestarts_; }

 private:
  PurgePolicy policy_;
  bool knowsVersion_ = false;
  bool hasRestarts_ = false;
  bool hasStarted_ = false;
};

}  // namespace steptape::detail
