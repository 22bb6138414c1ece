// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/clock_offset.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/got_expected.h"
#include "ranks/communicator/offset_interval.h"

namespace steptape::detail::ranks {
namespace {

CollectiveOptions offsetOptions() {
  CollectiveOptions options;
  options.name = "clock offset";
  return options;
}

/// Bounds of how far a clock's wall time is ahead of its steady time.
struct WallLead {
  std::int64_t least;
  std::int64_t greatest;
};

/// Returns the narrowest bounds of several readings, because the thread may be interrupted during
/// one.
WallLead wallLeadOf(const Clock& clock) {
  constexpr int kReadings = 5;
  WallLead best{};
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (int reading = 0; reading < kReadings; ++reading) {
    const std::int64_t before = clock.steadyNanos();
    const std::int64_t wall = clock.wallNanos();
    const std::int64_t after = clock.steadyNanos();
    if (after - before < shortest) {
      shortest = after - before;
      best = {wall - after, wall - before};
    }
  }
  return best;
}

bool areApart(const WallLead& a, const WallLead& b) {
  return a.least > b.greatest || b.least > a.greatest;
}

/// A rank's readings of its own clock at the barriers. Sent as raw memory.
struct ClockReadings {
  WallLead wallLead;
  std::int64_t wasSet;  ///< 1 if the wall clock was set during the barriers, else 0.
};

ClockReadings meetAndRead(Communicator& communicator, const Clock& clock,
                          std::vector<BarrierTimes>& rounds) {
  const WallLead before = wallLeadOf(clock);
  for (BarrierTimes& round : rounds) {
    round.entered = clock.steadyNanos();
    communicator.barrier(offsetOptions());
    round.left = clock.steadyNanos();
  }
  const WallLead after = wallLeadOf(clock);
  return {after, areApart(before, after) ? 1 : 0};
}

template <typename T>
void broadcastFromRoot(Communicator& communicator, T* data, std::size_t count) {
  communicator.broadcast(data, count * sizeof(T), 0, offsetOptions());
}

}  // namespace

ClockOffset estimateClockOffset(Communicator& communicator, const ClockOffsetOptions& options) {
  if (options.rounds < 1) {
    base::reject(std::to_string(options.rounds) + " rounds", "at least 1", "estimateClockOffset");
  }
  const Clock& clock = options.clock ? *options.clock : Clock::system();
  ClockOffset offset;
  if (communicator.size() == 1) {
    offset.wallNanos = clock.wallNanos();
    return offset;
  }
  std::vector<BarrierTimes> mine(static_cast<std::size_t>(options.rounds));
  const ClockReadings myClock = meetAndRead(communicator, clock, mine);
  std::vector<BarrierTimes> roots = mine;
  ClockReadings rootClock = myClock;
  broadcastFromRoot(communicator, roots.data(), roots.size());
  broadcastFromRoot(communicator, &rootClock, 1);

  offset.wallNanos = mine.back().left + myClock.wallLead.least;
  offset.isSteady = myClock.wasSet == 0 && rootClock.wasSet == 0;
  if (communicator.isRoot()) {
    return offset;
  }
  const OffsetInterval steady = offsetInterval(mine, roots);
  const std::int64_t least = steady.least + rootClock.wallLead.least - myClock.wallLead.greatest;
  const std::int64_t greatest =
      steady.greatest + rootClock.wallLead.greatest - myClock.wallLead.least;
  // The ranks of the root's node read the same clock as the root. Late exits from barriers do not
  // matter.
  const bool isRootsClock = options.clock == nullptr && communicator.crossRank() == 0;
  const bool isNothing = isRootsClock && least <= 0 && greatest >= 0;
  offset.nanos = isNothing ? 0 : least + (greatest - least) / 2;
  offset.bound = std::max(greatest - offset.nanos, offset.nanos - least);
  offset.isSteady = offset.isSteady && steady.isSteady;
  return offset;
}

std::int64_t ClockCorrection::offsetAt(std::int64_t wallNanos) const {
  const std::int64_t length = end_.wallNanos - start_.wallNanos;
  const std::int64_t change = end_.nanos - start_.nanos;
  // If the change is as long as the window, within even wider bounds, a correction could make times
  // decrease.
  if (wallNanos <= start_.wallNanos || !isSteady() || std::abs(change) >= length) {
    return start_.nanos;
  }
  if (wallNanos >= end_.wallNanos) {
    return end_.nanos;
  }
  const double part =
      static_cast<double>(wallNanos - start_.wallNanos) / static_cast<double>(length);
  return start_.nanos + std::llround(part * static_cast<double>(change));
}

std::int64_t ClockCorrection::bound() const {
  return std::max(start_.bound, end_.bound);
}

bool ClockCorrection::isSteady() const {
  const std::int64_t length = end_.wallNanos - start_.wallNanos;
  const std::int64_t change = end_.nanos - start_.nanos;
  return end_.isSteady && length >= 0 &&
         std::abs(change) <= start_.bound + end_.bound + length / kDriftDivisor;
}

}  // namespace steptape::detail::ranks
