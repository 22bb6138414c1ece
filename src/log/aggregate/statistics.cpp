// SPDX-License-Identifier: Apache-2.0
#include "log/aggregate/statistics.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "steptape/base/status.h"

#include "base/text.h"
#include "values/kinds/tag.h"

namespace steptape::detail::log {
namespace {

[[noreturn]] void reject(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "aggregate: " + message);
}

/// Returns the tag suffixes of the band's lower and upper curve.
std::array<std::string, 2> bandSuffixes(const AggregateOptions& options) {
  if (options.band == AggregateBand::kDeviation || options.band == AggregateBand::kConfidence) {
    return {"/lower", "/upper"};
  }
  if (options.band == AggregateBand::kPercentiles) {
    const auto [least, most] =
        std::minmax_element(options.percentiles.begin(), options.percentiles.end());
    return {values::percentileSuffix(*least), values::percentileSuffix(*most)};
  }
  return {"/min", "/max"};
}

}  // namespace

void checkPercentiles(const std::vector<double>& percentiles) {
  for (const double percentile : percentiles) {
    if (!(percentile >= 0 && percentile <= 100)) {
      reject("got the percentile " + std::to_string(percentile) +
             "; expected a number from 0 to 100");
    }
  }
}

std::vector<AggregateStatistic> statisticsOf(const AggregateOptions& options) {
  checkPercentiles(options.percentiles);
  if (options.band == AggregateBand::kPercentiles && options.percentiles.size() < 2) {
    reject("got " + base::counted(options.percentiles.size(), "percentile") +
           "; expected at least 2 for a band of percentiles");
  }
  std::vector<AggregateStatistic> statistics{
      {"", [](const AggregatePoint& point) { return point.center; }},
      {"/std", [](const AggregatePoint& point) { return point.std; }, true},
      {"/min", [](const AggregatePoint& point) { return point.min; }},
      {"/max", [](const AggregatePoint& point) { return point.max; }}};
  for (std::size_t i = 0; i < options.percentiles.size(); ++i) {
    const std::string suffix = values::percentileSuffix(options.percentiles[i]);
    const bool isRepeated = std::any_of(statistics.begin(), statistics.end(),
                                        [&](const auto& each) { return each.suffix == suffix; });
    if (!isRepeated) {
      statistics.push_back(
          {suffix, [i](const AggregatePoint& point) { return point.percentiles[i]; }});
    }
  }
  if (options.band == AggregateBand::kDeviation) {
    const auto [lower, upper] = bandSuffixes(options);
    statistics.push_back(
        {lower, [](const AggregatePoint& point) { return point.mean - point.std; }, true});
    statistics.push_back(
        {upper, [](const AggregatePoint& point) { return point.mean + point.std; }, true});
  }
  if (options.band == AggregateBand::kConfidence) {
    const auto [lower, upper] = bandSuffixes(options);
    statistics.push_back({lower, [](const AggregatePoint& point) { return point.lower; }, true});
    statistics.push_back({upper, [](const AggregatePoint& point) { return point.upper; }, true});
  }
  return statistics;
}

std::vector<AggregateConflict> takeConflicts(const std::vector<AggregateStatistic>& statistics,
                                             std::vector<std::string>* tags) {
  std::map<std::string, std::string> ownerByName;
  std::set<std::string> inConflict;
  std::vector<AggregateConflict> conflicts;
  for (const std::string& tag : *tags) {
    for (const AggregateStatistic& statistic : statistics) {
      const auto [known, isNew] = ownerByName.emplace(tag + statistic.suffix, tag);
      if (!isNew) {
        conflicts.push_back({known->first, known->second, tag});
        inConflict.insert({known->second, tag});
      }
    }
  }
  tags->erase(std::remove_if(tags->begin(), tags->end(),
                             [&](const std::string& tag) { return inConflict.count(tag) > 0; }),
              tags->end());
  return conflicts;
}

CustomScalarsLayout bandCharts(const std::vector<std::string>& tags,
                               const AggregateOptions& options) {
  const auto [lower, upper] = bandSuffixes(options);
  std::map<std::string, std::vector<CustomScalarsChart>> chartsByCategory;
  for (const std::string& tag : tags) {
    chartsByCategory[values::groupOf(tag)].push_back(
        CustomScalarsChart::margin(tag, {tag, tag + lower, tag + upper}));
  }
  CustomScalarsLayout layout;
  for (auto& [category, charts] : chartsByCategory) {
    layout.categories.push_back({category, std::move(charts)});
  }
  return layout;
}

}  // namespace steptape::detail::log
