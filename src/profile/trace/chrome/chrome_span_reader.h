// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/profile/trace.h"

#include "profile/trace/chrome/chrome_events.h"
#include "profile/trace/trace_tables.h"

namespace steptape::detail::profile {

/// Returns the span of an event, without its times. Omits numbers that are only an event's position
/// in its file, so that equal calls have equal details.
TraceSpan readChromeSpan(const ChromeEvent& event, TraceTables* tables);

}  // namespace steptape::detail::profile
