// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/profile/op_stats.h"
#include "steptape/profile/trace_summary.h"
#include "steptape/trace/trace.h"
#include "steptape/writer/summary_writer.h"

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
  std::size_t maxTrace = 0;  ///< Index of the trace or rank with maxSelf, the first of equal ones.
};

/// Adds up the spans of each trace as summarize() does, and reduces the sums over the traces.
///
/// @param traces Of the ranks of one job, in any order.
/// @return the most mean self time first; empty for no traces.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<RankedOpStats> summarizeRanks(ArrayView<const Trace> traces,
                                                          OpGrouping grouping = OpGrouping::kName);

/// What a window of profiling found on one rank, small enough to be sent to another.
struct RankProfile {
  std::string nodeName;
  OpProfile profile;
  std::vector<StepSummary> steps;  ///< As of summarizeSteps(); empty if no trace was made.
};

/// As above, of what was added up already.
///
/// @param ranks All of the job, by rank.
STEPTAPE_EXPORT std::vector<RankedOpStats> summarizeRankProfiles(
    ArrayView<const RankProfile> ranks);

/// Logs what the ranks of a job found:
///
///     profile/operators_by_rank     table: mean self time over the ranks, the largest one and
///                                   whose it is
///     profile/straggler/parts       table: mean and maximum over the ranks, in milliseconds a
///                                   step, and the slowest rank, for each part of a step in
///                                   StepSummary, "total" and "work", which is workOf()
///     profile/straggler/report      text, if the slowest rank works more than 1.2 times as long as
///                                   the median rank: the rank, its host, and the part in which it
///                                   is most behind
///
/// With `options.detailScalars` also scalars, a point for each step:
///
///     profile/straggler/<part>/mean_ms, max_ms
///     profile/straggler/<part>/slowest_rank
///                                   for the parts of work, but where nobody took any time
///     profile/straggler/slowest_rank
///     profile/straggler/slowdown    work of the slowest rank / work of the median rank
///
/// These are what StragglerReport writes from its own clocks, of the steps that were profiled on
/// every rank. In a job where all wait for each other the slowest rank is the one that works
/// longest, and waits least.
///
/// @param ranks All of the job, by rank; at least one.
/// @param step  Of the tables and the text; scalars lie at the steps that they are of.
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeRankSummary(SummaryWriter& writer, ArrayView<const RankProfile> ranks,
                                      std::int64_t step, const OpTableOptions& options = {});

}  // namespace steptape
