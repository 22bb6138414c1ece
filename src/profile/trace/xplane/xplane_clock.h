// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// More than three weeks, and small enough for sums of two times not to overflow.
inline constexpr std::int64_t kMaxXPlanePicos = std::int64_t{1} << 61;

// Larger numbers are not times: the year 2100, and the limit of writeXPlane(). Smaller ones are not
// Unix times, but times since the start of the profile: the year 2000.
inline constexpr std::int64_t kMaxUnixNanos = 4'102'444'800'000'000'000;
inline constexpr std::int64_t kMinUnixNanos = 946'684'800'000'000'000;

inline bool isIn(std::int64_t number, std::int64_t first, std::int64_t last) {
  return number >= first && number <= last;
}

/// XProf's clock: picoseconds from a time at or before everything in a trace. XProf does not
/// support negative times, and rounds nanoseconds of times since 1970.
class XPlaneClock {
 public:
  /// @param originNanos Unix time of the time 0; 0: the trace's. An earlier time is used if
  ///                    something happened before it, a later time if it is more than three weeks
  ///                    away.
  XPlaneClock(const Trace& trace, std::int64_t originNanos);

  /// Returns the time 0 in nanoseconds since Trace::originNanos.
  std::int64_t origin() const { return origin_; }
  /// Converts a time. A time later than a profile can represent becomes the latest one.
  std::int64_t picos(std::int64_t nanos) const {
    return std::min(nanos - origin_, kMaxNanos) * 1000;
  }

 private:
  static constexpr std::int64_t kMaxNanos = kMaxXPlanePicos / 1000;

  std::int64_t origin_;
};

}  // namespace steptape::detail::profile
