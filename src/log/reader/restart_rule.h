// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "steptape/log/run_reader.h"

namespace steptape::detail::log {

/// Decides whether an event of a run, given in order, discards earlier points.
///
/// Files since `brain.Event:2` have START events for restarts. In older files, a decreasing step
/// means a restart, and START has no meaning. A version is valid until a file states another one.
/// Before the first version, files are regarded as old.
///
/// @threads Not thread-safe: one thread at a time.
/// @source  tensorboard/backend/event_processing/event_accumulator.py at 2.21, and
///          plugin_event_accumulator.py there for PurgePolicy::kTensorBoardServer
class RestartRule {
 public:
  explicit RestartRule(PurgePolicy policy) : policy_(policy) {}

  /// Records a file's version.
  /// @param hasRestarts As hasRestarts().
  void takeVersion(bool hasRestarts) {
    knowsVersion_ = true;
    hasRestarts_ = hasRestarts;
  }

  /// Records that damaged bytes were skipped. They may have contained the version, and every writer
  /// since 2015 writes the same one.
  void takeDamage() {
    if (!knowsVersion_) {
      takeVersion(true);
    }
  }

  /// Records a START.
  /// @return whether it discards earlier points at its step or later.
  bool takeStart() {
    if (watchesSteps()) {
      return false;
    }
    const bool isFirst = !std::exchange(hasStarted_, true);
    return policy_ == PurgePolicy::kRestarts ||
           (policy_ == PurgePolicy::kTensorBoardServer && !isFirst);
  }

  bool knowsVersion() const { return knowsVersion_; }

  /// Returns whether a summary whose step is less than that of the previous summary discards its
  /// tags' points at its step or later.
  bool watchesSteps() const { return policy_ != PurgePolicy::kNone && !hasRestarts_; }

 private:
  PurgePolicy policy_;
  bool knowsVersion_ = false;
  bool hasRestarts_ = false;
  bool hasStarted_ = false;
};

}  // namespace steptape::detail::log
