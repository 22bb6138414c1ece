// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"
#include "steptape/profile/trace.h"
#include "steptape/values/figure.h"

namespace steptape {

// Figures of a trace. The calls sum the numbers; the figure draws later.

/// Returns a flame graph: time by call path. Spans of all host threads are merged if their names
/// and the names around them are equal. A block is as wide as the time of all its spans; its
/// children are sorted by time, longest first. A name has the same color in every figure, and is
/// drawn without the prefixes `aten::` and `autograd::engine::evaluate_function: `.
///
/// Blocks below 1/400 of the time are merged into one block "other" per parent. Rows beyond the
/// 24th are omitted, which the figure states. Detached spans have no position in a call path and
/// are omitted.
///
/// @threads Thread-safe.
/// @cost   About 0.1 us per span.
STEPTAPE_EXPORT Figure flameGraph(const Trace& trace);

/// Returns a bar chart with one bar per step, stacked from the parts of summarizeSteps(), in
/// milliseconds. With more than 40 steps, a bar is the mean of several consecutive steps.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT Figure stepBreakdown(const Trace& trace);

/// Returns a chart of the bytes in use over time, per type of device, of those allocated in the
/// window. The peaks of summarizeMemory() and the beginnings of steps are marked.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT Figure memoryCurve(const Trace& trace);

/// Logs the figures of a trace:
///
///     profile/flame_graph      see flameGraph()
///     profile/step_breakdown   see stepBreakdown(), if there are steps
///     profile/memory_curve     see memoryCurve(), if memory was recorded
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeProfileFigures(SummaryWriter& writer, const Trace& trace,
                                         std::int64_t step);

/// Logs the figures of a trace, as ProfilerOptions::onTrace; does nothing without a writer.
///
///     options.onTrace = steptape::drawProfile;
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void drawProfile(const Trace& trace, SummaryWriter* writer, std::int64_t step);

}  // namespace steptape
