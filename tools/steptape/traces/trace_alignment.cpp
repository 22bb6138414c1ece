// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/traces/trace_alignment.h"

#include <algorithm>
#include <fmt/core.h>
#include <string>

#include "steptape/base/status.h"

namespace steptape::tools {
namespace {

const TraceStep* findStep(const Trace& trace, std::int64_t number) {
  const auto found = std::find_if(trace.steps.begin(), trace.steps.end(),
                                  [&](const TraceStep& step) { return step.number == number; });
  return found != trace.steps.end() ? &*found : nullptr;
}

std::string stepsText(const Trace& trace) {
  return trace.steps.empty()
             ? "none"
             : fmt::format("{} to {}", trace.steps.front().number, trace.steps.back().number);
}

const TraceStep& stepOf(const TraceSet& set, std::size_t i, std::int64_t number) {
  if (const TraceStep* const step = findStep(set.traces[i], number)) {
    return *step;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("cannot align {} of {}: got steps {}; expected step {}", set.labels()[i],
                          set.files[i], stepsText(set.traces[i]), number));
}

/// Returns the first step of the first trace that all traces have.
std::int64_t firstCommonStep(const TraceSet& set) {
  for (const TraceStep& step : set.traces.front().steps) {
    if (std::all_of(set.traces.begin(), set.traces.end(),
                    [&](const Trace& trace) { return findStep(trace, step.number) != nullptr; })) {
      return step.number;
    }
  }
  std::string steps;
  for (std::size_t i = 0; i < set.traces.size(); ++i) {
    steps += fmt::format("{}{} of {}: {}", i == 0 ? "" : "; ", set.labels()[i], set.files[i],
                         stepsText(set.traces[i]));
  }
  throw Error(ErrorCode::kInvalidArgument,
              "cannot align: got no common step (" + steps + "); expected one in all traces");
}

}  // namespace

std::vector<std::int64_t> align(TraceSet* set, TraceAlignment alignment,
                                std::optional<std::int64_t> step) {
  std::vector<std::int64_t> moments;  // Unix times that become equal
  if (alignment == TraceAlignment::kStep && !step) {
    step = firstCommonStep(*set);
  }
  for (std::size_t i = 0; i < set->traces.size(); ++i) {
    moments.push_back(set->traces[i].originNanos);
    if (alignment == TraceAlignment::kStep) {
      const TraceStep& mark = stepOf(*set, i, *step);
      moments.back() += mark.start + mark.duration;
    }
  }
  std::vector<std::int64_t> shifts(moments.size(), 0);
  for (std::size_t i = 1; i < moments.size() && alignment != TraceAlignment::kNone; ++i) {
    shifts[i] = moments.front() - moments[i];
    set->traces[i].originNanos += shifts[i];
  }
  return shifts;
}

bool haveCommonTime(const TraceSet& set) {
  std::int64_t lastBegin = INT64_MIN;
  std::int64_t firstEnd = INT64_MAX;
  for (const Trace& trace : set.traces) {
    lastBegin = std::max(lastBegin, trace.originNanos);
    firstEnd = std::min(firstEnd, trace.originNanos + trace.duration);
  }
  return lastBegin <= firstEnd;
}

}  // namespace steptape::tools
