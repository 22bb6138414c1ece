// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/traces/profile_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace steptape::tools {
namespace {

using OpKey = std::tuple<std::string, SpanKind, std::string>;

bool hasSteps(const TraceSet& set) {
  return std::all_of(set.traces.begin(), set.traces.end(),
                     [](const Trace& trace) { return !trace.steps.empty(); });
}

/// Returns the trace without spans that begin outside steps: between steps, or in steps that were
/// not recorded completely.
Trace withinSteps(Trace trace) {
  for (TraceThread& thread : trace.threads) {
    std::vector<TraceSpan>& spans = thread.spans;
    spans.erase(
        std::remove_if(spans.begin(), spans.end(),
                       [&](const TraceSpan& span) { return stepAt(trace, span.start) < 0; }),
        spans.end());
  }
  return trace;
}

/// Adds `set` to `diff` as its old profile, 0, or its new one, 1.
class ProfileSide {
 public:
  ProfileSide(const TraceSet& set, std::size_t side, ProfileDiff* diff)
      : set_(set), side_(side), diff_(*diff) {
    diff_.isPerStep ? countSteps() : countWindows();
  }

  void addOperators(OpGrouping grouping, std::map<OpKey, OpDiff>* operators) const {
    for (const Trace& trace : set_.traces) {
      const OpProfile profile =
          diff_.isPerStep ? summarize(withinSteps(trace), grouping) : summarize(trace, grouping);
      for (const OpStats& op : profile.operators) {
        OpDiff& sum = (*operators)[{op.name, op.kind, op.shapes}];
        sum.name = op.name;
        sum.kind = op.kind;
        sum.shapes = op.shapes;
        sum.self[side_] = sum.self[side_].value_or(0) +
                          static_cast<double>(op.self.count()) / static_cast<double>(count());
      }
    }
  }

 private:
  std::size_t& count() const { return diff_.counts[side_]; }

  void countSteps() {
    std::vector<StepSummary> steps;
    for (const Trace& trace : set_.traces) {
      const std::vector<StepSummary> more = summarizeSteps(trace);
      steps.insert(steps.end(), more.begin(), more.end());
    }
    diff_.means[side_] = meanOf(steps);
    count() = steps.size();
  }

  void countWindows() {
    std::int64_t total = 0;
    for (const Trace& trace : set_.traces) {
      total += trace.duration;
    }
    count() = set_.traces.size();
    diff_.means[side_].total = total / static_cast<std::int64_t>(count());
  }

  const TraceSet& set_;
  const std::size_t side_;
  ProfileDiff& diff_;
};

}  // namespace

double ProfileDiff::growthPercent() const {
  const auto before = static_cast<double>(means[0].total);
  const auto after = static_cast<double>(means[1].total);
  return before > 0 ? (after / before - 1) * 100 : 0;
}

ProfileDiff compareProfiles(const TraceSet& older, const TraceSet& newer, OpGrouping grouping) {
  ProfileDiff diff;
  diff.isPerStep = hasSteps(older) && hasSteps(newer);
  std::map<OpKey, OpDiff> operators;
  ProfileSide(older, 0, &diff).addOperators(grouping, &operators);
  ProfileSide(newer, 1, &diff).addOperators(grouping, &operators);
  for (auto& [key, op] : operators) {
    diff.operators.push_back(std::move(op));
  }
  std::stable_sort(
      diff.operators.begin(), diff.operators.end(),
      [](const OpDiff& a, const OpDiff& b) { return std::abs(a.change()) > std::abs(b.change()); });
  return diff;
}

}  // namespace steptape::tools
