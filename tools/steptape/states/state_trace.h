// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/profile/trace.h"

#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/verdict.h"

namespace steptape::tools {

/// Returns the last seconds of a job as a timeline: a trace for each process, in the order of its
/// ranks. All have the same time 0, the earliest that their states know, by the clock of the first
/// host.
///
/// Each process has rows for its marks (death, signals, last error), its steps and its phase, one
/// for each group of ranks with its collectives, and one for each thread with its zones. What had
/// not ended when the process was last seen lasts until then, and has the argument
/// `"ended": false`.
///
/// @param verdict Of `job`.
std::vector<Trace> stateTraces(const Job& job, const Verdict& verdict);

}  // namespace steptape::tools
