// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/profile/trace.h"

#include "events/messages/xplane.h"

namespace steptape::detail::profile {

/// Times of a profile as its file states them, in Unix time; 0: not stated.
struct StatedXPlaneTimes {
  std::int64_t profileStart = 0;
  std::int64_t profileStop = 0;
  std::int64_t windowStart = 0;
};

/// Reads the plane that describes the process and the profile.
StatedXPlaneTimes readXPlaneEnvironment(const events::XPlane& plane, Trace* trace);

}  // namespace steptape::detail::profile
