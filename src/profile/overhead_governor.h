// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape::detail {

/// Chooses which steps to record, so that recording costs no more than a share of all time.
///
///     time     ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
///     record   ███                  ███                  ███     3 % a step, 0.5 % in all
///
/// What a recorded step costs is known after it: its spans, and what else the caller measured.
///
/// @threads Not thread-safe: one thread at a time.
class OverheadGovernor {
 public:
  /// @param maxShare      Such as 0.01; 1 or more: every step is recorded.
  /// @param nanosPerSpan What recording one costs the thread.
  OverheadGovernor(double maxShare, double nanosPerSpan)
      : maxShare_(maxShare), nanosPerSpan_(nanosPerSpan) {}

  /// Ends a step that was recorded.
  ///
  /// @param stepNanos  How long it took, the cost of recording it included.
  /// @param extraNanos What else recording cost since the last step.
  void endRecorded(std::uint64_t spans, double stepNanos, double extraNanos);
  /// Ends a step that was not.
  void endUnrecorded(double stepNanos) { totalNanos_ += stepNanos; }

  /// Whether the next step can be recorded: a step like the last recorded one would keep the share.
  bool recordsNext() const;

  /// The cost of recording, as a share of all time so far.
  double share() const { return totalNanos_ > 0.0 ? costNanos_ / totalNanos_ : 0.0; }

 private:
  double maxShare_;
  double nanosPerSpan_;
  double totalNanos_ = 0.0;
  double costNanos_ = 0.0;
  double lastStepNanos_ = 0.0;
  double lastCostNanos_ = 0.0;
};

}  // namespace steptape::detail
