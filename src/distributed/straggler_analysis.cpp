// SPDX-License-Identifier: Apache-2.0
#include "distributed/straggler_analysis.h"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

#include "steptape/comm/rank_log.h"

namespace steptape::detail {
namespace {

constexpr double kMilliseconds = 1e3;  // in a second

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

/// The part of work in which a rank exceeds the median most.
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

void addSpread(StepBatch* batch, const std::string& prefix, const PartSpread& spread) {
  const std::string start = prefix + "/" + spread.part.name;
  batch->add(start + "/mean_ms", spread.mean * kMilliseconds);
  batch->add(start + "/max_ms", spread.max * kMilliseconds);
  // The rank that waits longest is the fastest; parts that took no time have no slowest rank.
  if (spread.part.isWork && spread.max > 0) {
    batch->add(start + "/slowest_rank", spread.slowestRank);
  }
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

void addStragglers(StepBatch* batch, const std::string& prefix, const StragglerAnalysis& analysis) {
  for (const PartSpread& spread : analysis.parts) {
    addSpread(batch, prefix, spread);
  }
  addSpread(batch, prefix, analysis.work);
  batch->add(prefix + "/slowest_rank", analysis.work.slowestRank);
  batch->add(prefix + "/slowdown", analysis.slowdown);
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

}  // namespace steptape::detail
