// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/trace/trace.h"

namespace steptape::detail {

/// XProf's clock: picoseconds from a time at or before all that a trace holds. XProf knows no
/// negative times, and of times since 1970 it loses the nanoseconds.
class XPlaneClock {
 public:
  /// @param originNanos Unix time of the time 0; 0: that of the trace. An earlier one is taken where
  ///                    something happened before it.
  XPlaneClock(const Trace& trace, std::int64_t originNanos);

  /// Of the time 0, in nanoseconds since Trace::originNanos.
  std::int64_t origin() const { return origin_; }
  std::int64_t picos(std::int64_t nanos) const { return (nanos - origin_) * 1000; }

 private:
  std::int64_t origin_;
};

}  // namespace steptape::detail
