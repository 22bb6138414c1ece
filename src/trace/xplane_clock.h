// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "steptape/trace/trace.h"

namespace steptape::detail {

/// More than three weeks, and far from where sums of two times overflow.
inline constexpr std::int64_t kMaxXPlanePicos = std::int64_t{1} << 61;

/// XProf's clock: picoseconds from a time at or before all that a trace holds. XProf knows no
/// negative times, and of times since 1970 it loses the nanoseconds.
class XPlaneClock {
 public:
  /// @param originNanos Unix time of the time 0; 0: that of the trace. An earlier one is taken
  ///                    where something happened before it, a later one where it is three weeks
  ///                    away.
  XPlaneClock(const Trace& trace, std::int64_t originNanos);

  /// Of the time 0, in nanoseconds since Trace::originNanos.
  std::int64_t origin() const { return origin_; }
  /// What comes later than a profile can say is at its end.
  std::int64_t picos(std::int64_t nanos) const {
    return std::min(nanos - origin_, kMaxNanos) * 1000;
  }

 private:
  static constexpr std::int64_t kMaxNanos = kMaxXPlanePicos / 1000;

  std::int64_t origin_;
};

}  // namespace steptape::detail
