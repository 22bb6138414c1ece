// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/steptape/traces/trace_files.h"

namespace steptape::tools {

/// What is to happen at the same time in all traces.
enum class TraceAlignment {
  kNone,   ///< What happened at the same time by the clocks that the traces were made with.
  kStart,  ///< The begin of the windows.
  kStep,   ///< The end of a step: ranks that average gradients end it together.
};

/// Shifts each trace but the first in time.
///
/// @param step The one that kStep aligns; the first that all traces have if there is none.
/// @return by how many nanoseconds each was moved into the future.
/// @throws Error(kInvalidArgument) naming the rank and the file that lack the step.
std::vector<std::int64_t> align(TraceSet* set, TraceAlignment alignment,
                                std::optional<std::int64_t> step);

/// Whether there is a moment at which all windows were open; else clocks differ, or sessions do.
bool haveCommonTime(const TraceSet& set);

}  // namespace steptape::tools
