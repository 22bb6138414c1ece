// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/profile/rank_summary.h"
#include "steptape/profile/trace_summary.h"

#include "tools/steptape/traces/trace_files.h"

namespace steptape::tools {

/// The mean of each part; all 0 for no steps.
StepSummary meanOf(const std::vector<StepSummary>& steps);

/// What `steptape profile` tells of a trace.
struct TraceProfile {
  OpProfile operators;
  std::vector<StepSummary> steps;
  StepSummary meanStep;
  std::vector<MemorySummary> memory;  ///< Of the devices that have any.
  std::size_t spans = 0;
};

TraceProfile profileOf(const Trace& trace, OpGrouping grouping);

/// What it tells of several: the ranks of a job, as far as it can know.
struct JobProfile {
  std::vector<TraceProfile> ranks;  ///< As TraceSet::traces.
  std::vector<RankedOpStats> operators;
  bool hasSteps = false;    ///< Whether every rank has any.
  std::size_t slowest = 0;  ///< Of `ranks`, by workOf() the mean step. REQUIRES: hasSteps
  /// That work by the mean of the other ranks'; 1 where these did none.
  double slowness = 1;
};

JobProfile jobProfileOf(const TraceSet& set, OpGrouping grouping);

/// What orders the operators of a table; most first.
enum class OpOrder { kSelf, kTotal, kCalls };

void sortOperators(std::vector<OpStats>* operators, OpOrder order);
void sortOperators(std::vector<RankedOpStats>* operators, OpOrder order);

}  // namespace steptape::tools
