// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/trace/trace.h"

#include "trace/chrome_events.h"
#include "trace/trace_tables.h"

namespace steptape::detail {

/// The span of an event, without its times. Numbers that only say where an event stood in its file
/// are left out, so that equal calls have equal details.
TraceSpan readChromeSpan(const ChromeEvent& event, TraceTables* tables);

}  // namespace steptape::detail
