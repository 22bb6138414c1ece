// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "steptape/profile/trace_summary.h"

namespace steptape {
namespace {

/// Holds sums instead of means until all traces are added.
using OpSums = std::map<std::tuple<std::string, SpanKind, std::string>, RankedOpStats>;

void add(const OpStats& op, std::size_t trace, OpSums* sums) {
  const auto [known, isNew] = sums->try_emplace({op.name, op.kind, op.shapes});
  RankedOpStats& sum = known->second;
  if (isNew) {
    sum.name = op.name;
    sum.kind = op.kind;
    sum.shapes = op.shapes;
    sum.module = op.module;
  }
  if (isNew || op.self > sum.maxSelf) {
    sum.maxSelf = op.self;
    sum.maxTrace = trace;
  }
  sum.calls += op.calls;
  sum.meanSelf += op.self;
  sum.meanTotal += op.total;
}

std::vector<RankedOpStats> meansOf(OpSums&& sums, std::size_t traces) {
  const auto count = static_cast<std::int64_t>(traces);
  std::vector<RankedOpStats> operators;
  operators.reserve(sums.size());
  for (auto& [key, op] : sums) {
    op.meanSelf /= count;
    op.meanTotal /= count;
    operators.push_back(std::move(op));
  }
  // Equal ones stay sorted by name.
  std::stable_sort(
      operators.begin(), operators.end(),
      [](const RankedOpStats& a, const RankedOpStats& b) { return a.meanSelf > b.meanSelf; });
  return operators;
}

}  // namespace

std::vector<RankedOpStats> summarizeRanks(ArrayView<const Trace> traces, OpGrouping grouping) {
  OpSums sums;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    for (const OpStats& op : summarize(traces[i], grouping).operators) {
      add(op, i, &sums);
    }
  }
  return meansOf(std::move(sums), traces.size());
}

std::vector<RankedOpStats> summarizeRankProfiles(ArrayView<const RankProfile> ranks) {
  OpSums sums;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const OpStats& op : ranks[i].profile.operators) {
      add(op, i, &sums);
    }
  }
  return meansOf(std::move(sums), ranks.size());
}

}  // namespace steptape
