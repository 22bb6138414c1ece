// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/export.h"
#include "steptape/figure/figure.h"
#include "steptape/trace/trace.h"
#include "steptape/writer/summary_writer.h"

namespace steptape {

// Pictures of a trace. Its numbers are added up when they are called; drawing is the figure's.

/// Where the time went, by call path: the spans of all threads of the host, merged where their
/// names and those around them are equal. A block is as wide as the time of all its spans, and its
/// children are sorted by theirs, the most first. A name has the same color in every picture; it is
/// written without "aten::" and "autograd::engine::evaluate_function: ".
///
/// Blocks of less than 1/400 of the time are merged to one named "other" for each parent; rows
/// beyond the 24th are left out, which the figure says. Detached spans have no place in a call path
/// and are left out.
///
/// @threads Thread-safe.
/// @cost    About 0.1 us for each span.
STEPTAPE_EXPORT Figure flameGraph(const Trace& trace);

/// A bar for each step, stacked of the parts of summarizeSteps(), in milliseconds. Where there are
/// more than 40 steps, a bar is the mean of several that follow each other.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT Figure stepBreakdown(const Trace& trace);

/// The bytes in use over time, for each type of device, of what was allocated in the window; the
/// peaks of summarizeMemory() and the beginnings of steps are marked.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT Figure memoryCurve(const Trace& trace);

/// Logs the pictures of a trace:
///
///     profile/flame_graph      see flameGraph()
///     profile/step_breakdown   see stepBreakdown(), where there are steps
///     profile/memory_curve     see memoryCurve(), where memory was recorded
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void addProfileFigures(SummaryWriter& writer, const Trace& trace,
                                       std::int64_t step);

/// The same for ProfilerOptions::onTrace; does nothing without a writer.
///
///     options.onTrace = steptape::drawProfile;
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void drawProfile(const Trace& trace, SummaryWriter* writer, std::int64_t step);

}  // namespace steptape
