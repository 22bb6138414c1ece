// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/traces/trace_profile.h"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace steptape::tools {
namespace {

void findSlowest(JobProfile* job) {
  double others = 0;
  for (std::size_t i = 0; i < job->ranks.size(); ++i) {
    const std::int64_t work = workOf(job->ranks[i].meanStep);
    others += static_cast<double>(work);
    if (work > workOf(job->ranks[job->slowest].meanStep)) {
      job->slowest = i;
    }
  }
  const auto most = static_cast<double>(workOf(job->ranks[job->slowest].meanStep));
  others = (others - most) / static_cast<double>(job->ranks.size() - 1);
  job->slowness = others > 0 ? most / others : 1;
}

template <typename Op, typename Amount>
void sortBy(std::vector<Op>* operators, const Amount& amount) {
  std::stable_sort(operators->begin(), operators->end(),
                   [&](const Op& a, const Op& b) { return amount(a) > amount(b); });
}

}  // namespace

StepSummary meanOf(const std::vector<StepSummary>& steps) {
  StepSummary mean;
  const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(steps.size()));
  const auto take = [&](std::int64_t StepSummary::*nanos) {
    for (const StepSummary& step : steps) {
      mean.*nanos += step.*nanos;
    }
    mean.*nanos /= count;
  };
  take(&StepSummary::total);
  for (const StepSummaryPart& part : kStepSummaryParts) {
    take(part.nanos);
  }
  return mean;
}

TraceProfile profileOf(const Trace& trace, OpGrouping grouping) {
  TraceProfile profile;
  profile.operators = summarize(trace, grouping);
  profile.steps = summarizeSteps(trace);
  profile.meanStep = meanOf(profile.steps);
  profile.memory = summarizeMemory(trace);
  profile.devices = summarizeDevices(trace);
  for (const TraceThread& thread : trace.threads) {
    profile.spans += thread.spans.size();
  }
  return profile;
}

JobProfile jobProfileOf(const TraceSet& set, OpGrouping grouping) {
  JobProfile job;
  job.hasSteps = true;
  for (const Trace& trace : set.traces) {
    job.ranks.push_back(profileOf(trace, grouping));
    job.hasSteps = job.hasSteps && !trace.steps.empty();
  }
  job.operators =
      summarizeRanks(ArrayView<const Trace>(set.traces.data(), set.traces.size()), grouping);
  if (job.hasSteps && job.ranks.size() > 1) {
    findSlowest(&job);
  }
  return job;
}

void sortOperators(std::vector<OpStats>* operators, OpOrder order) {
  switch (order) {
    case OpOrder::kSelf:
      return sortBy(operators, [](const OpStats& op) { return op.self; });
    case OpOrder::kTotal:
      return sortBy(operators, [](const OpStats& op) { return op.total; });
    case OpOrder::kCalls:
      return sortBy(operators, [](const OpStats& op) { return op.calls; });
  }
}

void sortOperators(std::vector<RankedOpStats>* operators, OpOrder order) {
  switch (order) {
    case OpOrder::kSelf:
      return sortBy(operators, [](const RankedOpStats& op) { return op.meanSelf; });
    case OpOrder::kTotal:
      return sortBy(operators, [](const RankedOpStats& op) { return op.meanTotal; });
    case OpOrder::kCalls:
      return sortBy(operators, [](const RankedOpStats& op) { return op.calls; });
  }
}

}  // namespace steptape::tools
