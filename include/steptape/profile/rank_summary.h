// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"
#include "steptape/profile/op_stats.h"
#include "steptape/profile/trace.h"
#include "steptape/profile/trace_summary.h"

namespace steptape {

/// Time of all spans of one name and kind on all ranks of a job.
struct RankedOpStats {
  std::string name;
  SpanKind kind = SpanKind::kOperator;
  std::string shapes;       ///< As OpStats::shapes.
  std::string module;       ///< As OpStats::module.
  std::uint64_t calls = 0;  ///< On all ranks together.
  /// Mean over all ranks; a rank without such spans counts as 0. See OpStats::self.
  std::chrono::nanoseconds meanSelf{};
  std::chrono::nanoseconds meanTotal{};  ///< Mean over all ranks of OpStats::total.
  std::chrono::nanoseconds maxSelf{};
  std::size_t maxTrace = 0;  ///< First trace or rank that has maxSelf.
};

/// Sums the spans of each trace as summarize() does, and combines the sums over the traces.
///
/// @param traces   Traces of the ranks of one job, in any order.
/// @param grouping What makes two spans one row.
/// @return ordered by mean self time, largest first; empty if there are no traces.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<RankedOpStats> summarizeRanks(ArrayView<const Trace> traces,
                                                          OpGrouping grouping = OpGrouping::kName);

/// Result of a profiling window on one rank, small enough to send to another.
struct RankProfile {
  std::string nodeName;
  OpProfile profile;
  std::vector<StepSummary> steps;  ///< As returned by summarizeSteps(); empty if no trace was made.
};

/// Like summarizeRanks(), for results that are already summed.
///
/// @param ranks All ranks of the job, by rank.
STEPTAPE_EXPORT std::vector<RankedOpStats> summarizeRankProfiles(
    ArrayView<const RankProfile> ranks);

/// Logs the profile of all ranks of a job:
///
///     profile/operators_by_rank     table: mean self time over the ranks, the largest one and
///                                   its rank
///     profile/straggler/parts       table: mean and maximum over the ranks, in milliseconds per
///                                   step, and the slowest rank, for each part of a step in
///                                   StepSummary, "total" and "work", which is workOf()
///     profile/straggler/report      text, if the slowest rank works more than 1.2 times as long as
///                                   the median rank: the rank, its host, and the part in which it
///                                   exceeds the median most
///
/// With `options.detailScalars` also scalars, a point for each step:
///
///     profile/straggler/<part>/mean_ms, max_ms
///     profile/straggler/<part>/slowest_rank
///                                   the same for the parts of work, unless a part took no time
///     profile/straggler/slowest_rank
///     profile/straggler/slowdown    work of the slowest rank / work of the median rank
///
/// StragglerReport writes the same from its own clocks; these values cover the steps that every
/// rank profiled. In a job whose ranks wait for each other, the slowest rank works longest and
/// waits least.
///
/// @param writer  Receives the values.
/// @param ranks   All ranks of the job, by rank; at least one.
/// @param step    Step of the tables and the text; scalars are at the steps that they describe.
/// @param options See OpTableOptions.
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeRankSummary(SummaryWriter& writer, ArrayView<const RankProfile> ranks,
                                      std::int64_t step, const OpTableOptions& options = {});

}  // namespace steptape
