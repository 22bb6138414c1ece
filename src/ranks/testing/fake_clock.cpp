// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

namespace steptape::testing {

void FakeClock::advance(std::chrono::nanoseconds duration) {
  if (duration.count() < 0) {
    throw Error(ErrorCode::kInvalidArgument, "FakeClock::advance: got " +
                                                 std::to_string(duration.count()) +
                                                 " ns; expected 0 or more; use setWallSeconds()");
  }
  steadyNanos_ += duration.count();
  const double seconds = std::chrono::duration<double>(duration).count();
  // std::atomic<double> has no += before C++20.
  double wall = wallSeconds_.load();
  while (!wallSeconds_.compare_exchange_weak(wall, wall + seconds)) {
  }
}

}  // namespace steptape::testing
