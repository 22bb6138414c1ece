// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape {

/// How far the root's wall clock is ahead of that of a rank.
struct ClockOffset {
  /// What is to be added to a wall time of this rank for the root's at the same moment; 0 on the
  /// root.
  std::int64_t nanos = 0;
  /// The true offset is at least `nanos - bound` and at most `nanos + bound`.
  std::int64_t bound = 0;
  /// When it was so, by this rank's clock: Clock::wallNanos().
  std::int64_t wallNanos = 0;
  /// Whether the clocks of this rank and of the root went on evenly meanwhile. Where one was set,
  /// or ran away by more than 0.1 %, the values are those that hold since.
  bool isSteady = true;
};

struct ClockOffsetOptions {
  int rounds = 32;                               ///< At least 1; equal on all ranks.
  std::shared_ptr<const Clock> clock = nullptr;  ///< Null: the system's.
};

/// Finds out how the ranks' clocks stand to each other, so that what they record can be laid side
/// by side. Collective.
///
/// No rank leaves a barrier before every rank has entered it: the time at which this rank enters is
/// not later than that at which the root leaves, and the other way round. So each barrier bounds
/// the offset from both sides, the quickest ones most tightly, and the result is the middle of what
/// all of them leave; with the system's clock it is 0 on the root's node, whose ranks read the same
/// clock. The bound is proven, under two conditions: the clocks drift apart by at most
/// 0.1 %, as those do that NTP steers, and Clock::wallNanos() is as fine as it says.
///
/// Around the barriers time is read from Clock::steadyNanos(), which no one sets.
///
/// @throws Error(kInvalidArgument) if `rounds` is less than 1; Error(kRankMismatch) if they differ;
///         Error(kDeadlineExceeded) if a rank does not come.
/// @cost   `rounds` barriers and two broadcasts, of 16 bytes for each barrier, whatever the number
///         of ranks: 50 microseconds for two ranks of a node, and a bound of 1.2 microseconds then.
///         Nothing for one rank.
/// @source 500 ppm, by which NTP steers a clock at most: MAXFREQ in RFC 5905, appendix A.
STEPTAPE_EXPORT ClockOffset estimateClockOffset(Communicator& communicator,
                                                const ClockOffsetOptions& options = {});

/// Turns times of one rank into the root's, for a window at whose start and end the offset was
/// estimated: between them the clocks drift, and the offset is taken to change evenly.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT ClockCorrection {
 public:
  /// Leaves times as they are: for the root, and for a rank that is alone.
  ClockCorrection() = default;
  /// One offset for all times.
  explicit ClockCorrection(const ClockOffset& offset) : ClockCorrection(offset, offset) {}
  ClockCorrection(const ClockOffset& start, const ClockOffset& end) : start_(start), end_(end) {}

  /// What is to be added to a wall time of this rank. Times before the start have the offset of the
  /// start, those after the end that of the end.
  std::int64_t offsetAt(std::int64_t wallNanos) const;

  /// A wall time of this rank by the root's clock. Keeps the order of times.
  std::int64_t rootNanos(std::int64_t wallNanos) const { return wallNanos + offsetAt(wallNanos); }

  /// How far offsetAt() is off at most, if the clocks drift evenly and isSteady().
  std::int64_t bound() const;

  /// False if a clock was set or ran away between start and end, by more than 0.1 % and the bounds:
  /// the time is unknown, so all times have the offset of the start.
  bool isSteady() const;

 private:
  ClockOffset start_;
  ClockOffset end_;
};

}  // namespace steptape
