// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steptape::detail::profile {

/// Chooses which steps to record, so that recording costs at most a share of all time.
///
///     time     ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
///     record   ███                  ███                  ███     3 % a step, 0.5 % in all
///
/// The cost of a recorded step is first estimated as its spans times the cost of one in a loop. In
/// a working program, the cost is several times higher, because the caches hold other data.
/// Recorded steps are therefore also compared with unrecorded ones: every second step at first,
/// later at least one in eight is not recorded. The larger figure counts. The cost for later steps,
/// such as caches full of records, is not measured; so the target is four fifths of the share.
///
/// @threads Not thread-safe: one thread at a time.
class OverheadGovernor {
 public:
  /// @param maxShare      Such as 0.01; 1 or more: record every step.
  /// @param nanosPerSpan Cost of recording one span on its thread.
  OverheadGovernor(double maxShare, double nanosPerSpan)
      : maxShare_(maxShare), nanosPerSpan_(nanosPerSpan) {}

  /// Ends a recorded step.
  /// @param stepNanos Its duration, including the cost of recording.
  void endRecorded(std::uint64_t spans, double stepNanos);
  /// Ends an unrecorded step.
  void endUnrecorded(double stepNanos);

  /// Adds cost outside of steps: between them, or on another thread.
  void addCost(double nanos) { costNanos_ += nanos; }

  /// Returns whether the next step can be recorded without exceeding the share, if it costs as much
  /// as the last recorded one.
  bool recordsNext() const;

  /// Returns the cost of recording as a share of all time so far.
  double share() const { return totalNanos_ > 0.0 ? costNanos_ / totalNanos_ : 0.0; }

 private:
  /// The most recent values of a series.
  class Latest {
   public:
    void add(double nanos) { nanos_[count_++ % kKept] = nanos; }
    bool isEnough() const { return count_ >= kEnough; }
    double median() const;

   private:
    static constexpr std::size_t kKept = 63;
    static constexpr std::size_t kEnough = 15;
    std::array<double, kKept> nanos_{};
    std::size_t count_ = 0;
  };

  double maxShare_;
  double nanosPerSpan_;
  double totalNanos_ = 0.0;
  double costNanos_ = 0.0;
  double uncomparedNanos_ = 0.0;  // cost of steps that were recorded before they could be compared
  std::int64_t uncomparedSteps_ = 0;
  double lastStepNanos_ = 0.0;
  double lastCostNanos_ = 0.0;
  std::int64_t recordedInARow_ = 0;
  double lastUnrecordedNanos_ = 0.0;  // 0: there was none
  // Differences between recorded steps and the last unrecorded step before each: neighbors, because
  // a machine's speed drifts by more than recording costs.
  Latest differences_;
};

}  // namespace steptape::detail::profile
