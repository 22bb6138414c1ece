// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/span.h"
#include "steptape/profile/trace_summary.h"
#include "steptape/trace/trace.h"

namespace steptape {

/// The time of all spans of one name and kind on the ranks of a job.
struct RankedOpStats {
  std::string name;
  SpanKind kind = SpanKind::kOperator;
  std::string shapes;       ///< As OpStats::shapes.
  std::string module;       ///< As OpStats::module.
  std::uint64_t calls = 0;  ///< On all ranks together.
  /// Of all ranks: one that never came there counts with 0. See OpStats::self.
  std::chrono::nanoseconds meanSelf{};
  std::chrono::nanoseconds meanTotal{};  ///< The same of OpStats::total.
  std::chrono::nanoseconds maxSelf{};
  std::size_t maxTrace = 0;  ///< Index of the trace with maxSelf, the first of equal ones.
};

/// Adds up the spans of each trace as summarize() does, and reduces the sums over the traces.
///
/// @param traces Of the ranks of one job, in any order.
/// @return the most mean self time first; empty for no traces.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<RankedOpStats> summarizeRanks(Span<const Trace> traces,
                                                          OpGrouping grouping = OpGrouping::kName);

}  // namespace steptape
