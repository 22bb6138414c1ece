// SPDX-License-Identifier: Apache-2.0
#include "distributed/straggler_analysis.h"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>

#include "steptape/distributed/rank_log.h"

namespace steptape::detail {
namespace {

constexpr auto kWaitIndex = static_cast<std::size_t>(StepPart::kWait);

PartSpread spreadOf(std::vector<double> byRank) {
  PartSpread spread;
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

double workOf(StepSeconds seconds) {
  seconds[kWaitIndex] = 0;
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

/// Where `seconds` exceed the median most.
StepPart mostBehind(const StepSeconds& seconds, const std::array<PartSpread, kStepParts>& parts) {
  std::size_t most = 0;
  for (std::size_t part = 1; part < kStepParts; ++part) {
    const bool isMore = seconds[part] - parts[part].median > seconds[most] - parts[most].median;
    most = part != kWaitIndex && isMore ? part : most;
  }
  return static_cast<StepPart>(most);
}

}  // namespace

StragglerAnalysis analyseStragglers(const std::vector<StepSeconds>& secondsByRank) {
  StragglerAnalysis analysis;
  std::vector<double> byRank(secondsByRank.size());
  for (std::size_t part = 0; part < kStepParts; ++part) {
    std::transform(secondsByRank.begin(), secondsByRank.end(), byRank.begin(),
                   [part](const StepSeconds& seconds) { return seconds[part]; });
    analysis.parts[part] = spreadOf(byRank);
  }
  std::transform(secondsByRank.begin(), secondsByRank.end(), byRank.begin(), workOf);
  analysis.work = spreadOf(byRank);
  if (analysis.work.max > 0) {
    analysis.slowdown = analysis.work.median > 0 ? analysis.work.max / analysis.work.median
                                                 : std::numeric_limits<double>::infinity();
  }
  const auto slowest = static_cast<std::size_t>(analysis.work.slowestRank);
  analysis.slowestPart = mostBehind(secondsByRank[slowest], analysis.parts);
  return analysis;
}

std::string describeStraggler(const StragglerAnalysis& analysis,
                              const std::vector<StepSeconds>& secondsByRank,
                              const std::vector<std::string>& nodeByRank) {
  const auto slowest = static_cast<std::size_t>(analysis.work.slowestRank);
  const double partSeconds = secondsByRank[slowest][static_cast<std::size_t>(analysis.slowestPart)];
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::fixed << std::setprecision(1)
       << rankAndNode(analysis.work.slowestRank, nodeByRank[slowest]) << " needs "
       << analysis.slowdown << " times as long as the median: " << analysis.work.max * 1e3
       << " ms a step, " << partSeconds * 1e3 << " ms of it " << stepPartName(analysis.slowestPart);
  return text.str();
}

}  // namespace steptape::detail
