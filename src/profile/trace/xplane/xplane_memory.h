// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/profile/trace.h"

#include "events/messages/xplane_encoder.h"
#include "profile/trace/xplane/xplane_clock.h"

namespace steptape::detail {

/// Encodes the memory events of a trace for XProf's memory page.
XLineEncoder encodeMemoryLine(const Trace& trace, const XPlaneClock& clock, XPlaneEncoder* plane);

}  // namespace steptape::detail
