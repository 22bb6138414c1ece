// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steptape::detail {

/// Chooses which steps to record, so that recording costs no more than a share of all time.
///
///     time     ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
///     record   ███                  ███                  ███     3 % a step, 0.5 % in all
///
/// What a recorded step costs is known after it: its spans, and what else the caller measured. In a
/// program at work a span costs several times what it does in a loop of spans, since the caches are
/// full of other things; so steps are also compared with those that were not recorded, of which there
/// is always one in eight, and every second one in the beginning.
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
  void endUnrecorded(double stepNanos);

  /// Whether the next step can be recorded: a step like the last recorded one would keep the share.
  bool recordsNext() const;

  /// The cost of recording, as a share of all time so far.
  double share() const { return totalNanos_ > 0.0 ? costNanos_ / totalNanos_ : 0.0; }

 private:
  /// The latest durations of steps.
  class Durations {
   public:
    void add(double nanos) { nanos_[count_++ % kKept] = nanos; }
    bool isEnough() const { return count_ >= kKept; }
    double median() const;

   private:
    static constexpr std::size_t kKept = 15;
    std::array<double, kKept> nanos_{};
    std::size_t count_ = 0;
  };

  /// How much longer recorded steps take than others; 0 until that is known.
  double measuredCost() const;

  double maxShare_;
  double nanosPerSpan_;
  double totalNanos_ = 0.0;
  double costNanos_ = 0.0;
  double lastStepNanos_ = 0.0;
  double lastCostNanos_ = 0.0;
  std::int64_t recordedInARow_ = 0;
  Durations recorded_;
  Durations unrecorded_;
};

}  // namespace steptape::detail
