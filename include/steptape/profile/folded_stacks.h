// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/profile/trace.h"

namespace steptape {

/// Converts traces to folded stacks for flamegraph.pl and speedscope. Each line is a call path with
/// the microseconds spent in its last span itself:
///
///     step;forward;aten::linear;aten::addmm 7500
///     step;forward;aten::linear;AddmmBackward0;aten::mm 8697
///
/// A backward node is below its forward operator. The threads of a process are added; for several
/// processes the first frame is the rank. Paths of less than half a microsecond are omitted, and
/// ';' in names becomes ','.
///
/// @param processes In any order.
/// @return lines ordered by path; empty if there are no spans.
/// @threads Thread-safe.
/// @source https://github.com/brendangregg/FlameGraph, stackcollapse.
STEPTAPE_EXPORT std::string foldedStacks(ArrayView<const Trace> processes);

}  // namespace steptape
