// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "tools/steptape/traces/trace_files.h"

namespace steptape::tools {

/// Returns the mean of each part; zeros if there are no steps.
StepSummary meanOf(const std::vector<StepSummary>& steps);

/// The data that `steptape profile` shows of a trace.
struct TraceProfile {
  OpProfile operators;
  std::vector<StepSummary> steps;
  StepSummary meanStep;
  std::vector<MemorySummary> memory;   ///< Of devices that have memory events.
  std::vector<DeviceSummary> devices;  ///< Of devices that have spans.
  std::size_t spans = 0;
};

TraceProfile profileOf(const Trace& trace, OpGrouping grouping);

/// The data that it shows of several traces, the ranks of a job.
struct JobProfile {
  std::vector<TraceProfile> ranks;  ///< As TraceSet::traces.
  std::vector<RankedOpStats> operators;
  bool hasSteps = false;    ///< Whether every rank has steps.
  std::size_t slowest = 0;  ///< Index of the rank with most work. REQUIRES: hasSteps
  /// The work of the slowest rank divided by the mean of the others; 1 if these did no work.
  double slowness = 1;
};

JobProfile jobProfileOf(const TraceSet& set, OpGrouping grouping);

/// The order of operators in a table, largest first.
enum class OpOrder { kSelf, kTotal, kCalls };

void sortOperators(std::vector<OpStats>* operators, OpOrder order);
void sortOperators(std::vector<RankedOpStats>* operators, OpOrder order);

}  // namespace steptape::tools
