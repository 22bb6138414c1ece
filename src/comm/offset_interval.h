// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace steptape::detail {

/// The most by which two clocks drift apart, as a part of the time: 1 / 1000. Each of them is at
/// most 500 ppm off while NTP steers it.
constexpr std::int64_t kDriftDivisor = 1000;

/// When a rank was in a barrier, in nanoseconds of a clock of its own that no one sets.
struct BarrierTimes {
  std::int64_t entered;
  std::int64_t left;
};

/// Bounds of what is to be added to the times of one clock for those of another.
struct OffsetInterval {
  std::int64_t least;
  std::int64_t greatest;
  /// False if the clocks drifted by more than they may: the bounds are those of the barriers since.
  bool isSteady;
};

/// What the barriers of two ranks prove of their clocks.
///
/// @param mine, others The same barriers, in their order; at least one.
/// @return what is to be added to the times of `mine` for those of `others`, at the moment at which
///         this rank left the last barrier. Never empty.
OffsetInterval offsetInterval(const std::vector<BarrierTimes>& mine,
                              const std::vector<BarrierTimes>& others);

}  // namespace steptape::detail
