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
/// What a recorded step costs is known after it: its spans, at what one costs in a loop of them. In
/// a program at work it is several times that, since the caches are full of other things; so steps
/// are also compared with those that were not recorded, of which there is always one in eight, and
/// every second one in the beginning. The larger figure counts. The cost of recording for later
/// steps, such as caches full of records, is not measured; so the aim is four fifths of the share.
///
/// @threads Not thread-safe: one thread at a time.
class OverheadGovernor {
 public:
  /// @param maxShare      Such as 0.01; 1 or more: every step is recorded.
  /// @param nanosPerSpan What recording one costs the thread.
  OverheadGovernor(double maxShare, double nanosPerSpan)
      : maxShare_(maxShare), nanosPerSpan_(nanosPerSpan) {}

  /// Ends a step that was recorded.
  /// @param stepNanos How long it took, the cost of recording it included.
  void endRecorded(std::uint64_t spans, double stepNanos);
  /// Ends a step that was not.
  void endUnrecorded(double stepNanos);

  /// Adds what was spent beside the steps: between them, or on another thread.
  void addCost(double nanos) { costNanos_ += nanos; }

  /// Whether the next step can be recorded: a step like the last recorded one would keep the share.
  bool recordsNext() const;

  /// The cost of recording, as a share of all time so far.
  double share() const { return totalNanos_ > 0.0 ? costNanos_ / totalNanos_ : 0.0; }

 private:
  /// The latest of a series.
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
  double uncomparedNanos_ =
      0.0;  // that the steps cost that were recorded before they could be compared
  std::int64_t uncomparedSteps_ = 0;
  double lastStepNanos_ = 0.0;
  double lastCostNanos_ = 0.0;
  std::int64_t recordedInARow_ = 0;
  double lastUnrecordedNanos_ = 0.0;  // 0: there was none
  // Of recorded steps to the last one that was not: neighbors, since a machine's speed drifts by
  // more than recording costs.
  Latest differences_;
};

}  // namespace steptape::detail
