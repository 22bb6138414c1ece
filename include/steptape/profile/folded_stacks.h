// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/trace/trace.h"

namespace steptape {

/// Traces as folded stacks, which flamegraph.pl and speedscope draw: a line for each call path,
/// with the microseconds that were spent in its last span itself:
///
///     step;forward;aten::linear;aten::addmm 7500
///     step;forward;aten::linear;AddmmBackward0;aten::mm 8697
///
/// A backward node lies where its forward operator does. The threads of a process are added up; of
/// several processes the first frame is the rank. Paths of less than half a microsecond are left
/// out, and ';' in names becomes ','.
///
/// @param processes In any order.
/// @return lines by path; empty for no spans.
/// @threads Thread-safe.
/// @source https://github.com/brendangregg/FlameGraph, stackcollapse.
STEPTAPE_EXPORT std::string foldedStacks(ArrayView<const Trace> processes);

}  // namespace steptape
