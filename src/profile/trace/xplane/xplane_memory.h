// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/profile/trace.h"

#include "events/messages/xplane_encoder.h"
#include "profile/trace/xplane/xplane_clock.h"

namespace steptape::detail::profile {

/// Encodes the memory events of a trace for XProf's memory page.
events::XLineEncoder encodeMemoryLine(const Trace& trace, const XPlaneClock& clock,
                                      events::XPlaneEncoder* plane);

}  // namespace steptape::detail::profile
