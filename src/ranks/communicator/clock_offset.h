// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace steptape::detail::ranks {

/// How far the root's wall clock is ahead of a rank's wall clock.
struct ClockOffset {
  /// Nanoseconds to add to a wall time of this rank to get the root's at the same moment; 0 on the
  /// root.
  std::int64_t nanos = 0;
  /// The true offset is between `nanos - bound` and `nanos + bound`.
  std::int64_t bound = 0;
  /// Time of the estimate on this rank's clock: Clock::wallNanos().
  std::int64_t wallNanos = 0;
  /// Whether the clocks of this rank and of the root ran evenly during the estimate. False if a
  /// clock was set or deviated by more than 0.1 %; the other values then hold from that moment on.
  bool isSteady = true;
};

struct ClockOffsetOptions {
  int rounds = 32;                               ///< At least 1; equal on all ranks.
  std::shared_ptr<const Clock> clock = nullptr;  ///< Null: the system clock.
};

/// Estimates the offsets between the ranks' clocks, so that their recordings can be aligned.
/// Collective.
///
/// No rank leaves a barrier before every rank has entered it. This rank therefore enters not later
/// than the root leaves, and vice versa. Each barrier thus bounds the offset from both sides; the
/// fastest barriers bound it most tightly. The result is the middle of the remaining interval. With
/// the system clock, it is 0 on the root's node, whose ranks read the same clock. The bound is
/// proven under two conditions: the clocks drift apart by at most 0.1 %, as NTP ensures, and
/// Clock::wallNanos() has its documented resolution.
///
/// Times at the barriers are read from Clock::steadyNanos(), which nobody can set.
///
/// @throws Error(kInvalidArgument) if `rounds` is less than 1; Error(kRankMismatch) if the ranks'
///         rounds differ; Error(kDeadlineExceeded) if a rank does not arrive.
/// @cost   `rounds` barriers and two broadcasts of 16 bytes per barrier, for any number of ranks:
///         50 microseconds for two ranks of a node, with a bound of 1.2 microseconds.
///         None for one rank.
/// @source 500 ppm is the largest frequency correction of NTP: MAXFREQ in RFC 5905, appendix A.
STEPTAPE_EXPORT ClockOffset estimateClockOffset(Communicator& communicator,
                                                const ClockOffsetOptions& options = {});

/// Converts times of one rank to the root's clock in a window. The offset is estimated at the start
/// and the end of the window and interpolated linearly between them, because clocks drift.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT ClockCorrection {
 public:
  /// Leaves times unchanged: for the root and for a single rank.
  ClockCorrection() = default;
  /// Uses one offset for all times.
  explicit ClockCorrection(const ClockOffset& offset) : ClockCorrection(offset, offset) {}
  ClockCorrection(const ClockOffset& start, const ClockOffset& end) : start_(start), end_(end) {}

  /// Returns the nanoseconds to add to a wall time of this rank. Times before the window have the
  /// offset of its start, times after the window that of its end.
  std::int64_t offsetAt(std::int64_t wallNanos) const;

  /// Converts a wall time of this rank to the root's clock. Keeps the order of times.
  std::int64_t rootNanos(std::int64_t wallNanos) const { return wallNanos + offsetAt(wallNanos); }

  /// Returns the maximum error of offsetAt() if the clocks drift evenly and isSteady().
  std::int64_t bound() const;

  /// Returns false if a clock was set, or deviated by more than 0.1 % and the bounds, during the
  /// window. The moment is unknown, so all times then have the offset of the start.
  bool isSteady() const;

 private:
  ClockOffset start_;
  ClockOffset end_;
};

}  // namespace steptape::detail::ranks
