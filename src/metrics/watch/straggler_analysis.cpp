// SPDX-License-Identifier: Apache-2.0
#include "metrics/watch/straggler_analysis.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

#include "steptape/ranks/communicator.h"

#include "values/kinds/table_cells.h"
#include "values/kinds/text.h"

namespace steptape::detail::metrics {
namespace {

constexpr double kMilliseconds = 1e3;  // per second

PartSpread spreadOf(const TimedPart& part, std::vector<double> byRank) {
  PartSpread spread;
  spread.part = part;
  const auto slowest = std::max_element(byRank.begin(), byRank.end());
  spread.max = *slowest;
  spread.slowestRank = static_cast<int>(slowest - byRank.begin());
  const auto ranks = static_cast<double>(byRank.size());
  spread.mean = std::accumulate(byRank.begin(), byRank.end(), 0.0) / ranks;
  const auto middle = byRank.begin() + static_cast<std::ptrdiff_t>((byRank.size() - 1) / 2);
  std::nth_element(byRank.begin(), middle, byRank.end());
  spread.median = *middle;
  return spread;
}

/// Returns the part of work in which the rank exceeds the median most.
std::size_t mostBehind(const PartSeconds& seconds, const std::vector<PartSpread>& parts) {
  std::size_t most = 0;
  double mostSeconds = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double behind = seconds[i] - parts[i].median;
    if (parts[i].part.isWork && behind > mostSeconds) {
      most = i;
      mostSeconds = behind;
    }
  }
  return most;
}

/// A rank that waits longest is the fastest, and a part that takes no time has no slowest rank.
bool hasSlowestRank(const PartSpread& spread) {
  return spread.part.isWork && spread.max > 0;
}

void addSpread(StepBatch* batch, const std::string& prefix, const PartSpread& spread) {
  const std::string start = prefix + "/" + spread.part.name;
  batch->add(start + "/mean_ms", spread.mean * kMilliseconds);
  batch->add(start + "/max_ms", spread.max * kMilliseconds);
  if (hasSlowestRank(spread)) {
    batch->add(start + "/slowest_rank", spread.slowestRank);
  }
}

std::string millisecondsCell(double seconds) {
  return values::millisecondsText(std::llround(seconds * 1e9));
}

std::vector<std::string> rowOf(const PartSpread& spread,
                               const std::vector<std::string>& nodeByRank) {
  const auto slowest = static_cast<std::size_t>(spread.slowestRank);
  return {spread.part.name, millisecondsCell(spread.mean), millisecondsCell(spread.max),
          hasSlowestRank(spread) ? rankAndNode(spread.slowestRank, nodeByRank[slowest]) : ""};
}

}  // namespace

StragglerAnalysis analyzeStragglers(const std::vector<TimedPart>& parts,
                                    const std::vector<PartSeconds>& secondsByRank) {
  StragglerAnalysis analysis;
  std::vector<double> workByRank(secondsByRank.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    std::vector<double> byRank;
    for (std::size_t rank = 0; rank < secondsByRank.size(); ++rank) {
      byRank.push_back(secondsByRank[rank][part]);
      workByRank[rank] += parts[part].isWork ? byRank.back() : 0.0;
    }
    analysis.parts.push_back(spreadOf(parts[part], std::move(byRank)));
  }
  analysis.work = spreadOf({"work", true}, std::move(workByRank));
  if (analysis.work.max > 0) {
    analysis.slowdown = analysis.work.median > 0 ? analysis.work.max / analysis.work.median
                                                 : std::numeric_limits<double>::infinity();
  }
  const auto slowest = static_cast<std::size_t>(analysis.work.slowestRank);
  analysis.slowestPart = mostBehind(secondsByRank[slowest], analysis.parts);
  return analysis;
}

void addSlowest(StepBatch* batch, const std::string& prefix, const StragglerAnalysis& analysis) {
  batch->add(prefix + "/slowest_rank", analysis.work.slowestRank);
  batch->add(prefix + "/slowdown", analysis.slowdown);
}

void addParts(StepBatch* batch, const std::string& prefix, const StragglerAnalysis& analysis) {
  for (const PartSpread& spread : analysis.parts) {
    addSpread(batch, prefix, spread);
  }
  addSpread(batch, prefix, analysis.work);
}

std::string partTable(const StragglerAnalysis& analysis,
                      const std::vector<std::string>& nodeByRank) {
  std::vector<std::vector<std::string>> rows;
  for (const PartSpread& spread : analysis.parts) {
    rows.push_back(rowOf(spread, nodeByRank));
  }
  rows.push_back(rowOf(analysis.work, nodeByRank));
  return values::markdownTable({"a step's", "mean ms", "max ms", "slowest rank"}, rows);
}

std::string describeStraggler(const StragglerAnalysis& analysis,
                              const std::vector<PartSeconds>& secondsByRank,
                              const std::vector<std::string>& nodeByRank) {
  const auto slowest = static_cast<std::size_t>(analysis.work.slowestRank);
  const double partSeconds = secondsByRank[slowest][analysis.slowestPart];
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::fixed << std::setprecision(1)
       << rankAndNode(analysis.work.slowestRank, nodeByRank[slowest]) << " needs "
       << analysis.slowdown << " times as long as the median: " << analysis.work.max * kMilliseconds
       << " ms a step, " << partSeconds * kMilliseconds << " ms of it "
       << analysis.parts[analysis.slowestPart].part.name;
  return text.str();
}

}  // namespace steptape::detail::metrics
