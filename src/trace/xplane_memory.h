// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/trace/trace.h"

#include "event/xplane_encoder.h"
#include "trace/xplane_clock.h"

namespace steptape::detail {

/// Encodes the memory events of a trace for XProf's memory page.
XLineEncoder encodeMemoryLine(const Trace& trace, const XPlaneClock& clock, XPlaneEncoder* plane);

}  // namespace steptape::detail
