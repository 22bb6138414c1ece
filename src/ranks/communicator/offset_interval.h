// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace steptape::detail::ranks {

/// The maximum drift between two clocks is 1 / 1000 of the time. NTP corrects each clock by at most
/// 500 ppm.
constexpr std::int64_t kDriftDivisor = 1000;

/// When a rank entered and left a barrier, in nanoseconds of its clock, which nobody can set.
struct BarrierTimes {
  std::int64_t entered;
  std::int64_t left;
};

/// Bounds of the offset to add to times of one clock to get those of another.
struct OffsetInterval {
  std::int64_t least;
  std::int64_t greatest;
  /// False if the clocks drifted by more than the maximum. The bounds then use only the later
  /// barriers.
  bool isSteady;
};

/// Computes the bounds that the barriers of two ranks prove.
///
/// @param mine, others The same barriers in the same order; at least one.
/// @return the offset from times of `mine` to times of `others`, at the moment at which this rank
///   left the last barrier. Never empty.
OffsetInterval offsetInterval(const std::vector<BarrierTimes>& mine,
                              const std::vector<BarrierTimes>& others);

}  // namespace steptape::detail::ranks
