// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/steptape/traces/trace_files.h"

namespace steptape::tools {

/// What the alignment of traces makes simultaneous.
enum class TraceAlignment {
  kNone,   ///< Nothing: keeps the clocks of the traces.
  kStart,  ///< The beginning of the windows.
  kStep,   ///< The end of a step: ranks that average gradients end it together.
};

/// Shifts all traces except the first in time.
///
/// @param step The step that kStep aligns; default: the first that all traces have.
/// @return the shift of each trace into the future, in nanoseconds.
/// @throws Error(kInvalidArgument) with the rank and the file that lack the step.
std::vector<std::int64_t> align(TraceSet* set, TraceAlignment alignment,
                                std::optional<std::int64_t> step);

/// Returns whether all windows overlap; otherwise their clocks or their sessions differ.
bool haveCommonTime(const TraceSet& set);

}  // namespace steptape::tools
