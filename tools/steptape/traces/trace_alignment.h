// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/steptape/traces/trace_files.h"

namespace steptape::tools {

/// What happens at the same time in all traces.
enum class TraceAlignment {
  kNone,   ///< What did by the clocks of the traces.
  kStart,  ///< The beginning of the windows.
  kStep,   ///< The end of a step: ranks that average gradients end it together.
};

/// Shifts each trace but the first in time.
///
/// @param step The step that kStep aligns; if not given, the first that all traces have.
/// @return the shift of each into the future, in nanoseconds.
/// @throws Error(kInvalidArgument) naming the rank and the file that lack the step.
std::vector<std::int64_t> align(TraceSet* set, TraceAlignment alignment,
                                std::optional<std::int64_t> step);

/// Whether all windows overlap; otherwise their clocks or their sessions differ.
bool haveCommonTime(const TraceSet& set);

}  // namespace steptape::tools
