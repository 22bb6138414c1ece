// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/aggregate.h"

namespace steptape::detail::log {

/// A statistic that becomes a curve of an aggregated tag.
struct AggregateStatistic {
  std::string suffix;  ///< Suffix of the tag; empty for the mean.
  std::function<double(const AggregatePoint&)> value;
  bool needsSeveralRuns = false;  ///< Whether it is undefined for a single run.
};

/// Returns the statistics, with the mean first.
///
/// @throws Error(kInvalidArgument) as checkPercentiles(), or if the band needs percentiles and
///         there are none.
std::vector<AggregateStatistic> statisticsOf(const AggregateOptions& options);

/// @throws Error(kInvalidArgument) if one of `percentiles` is not from 0 to 100.
void checkPercentiles(const std::vector<double>& percentiles);

/// Removes from `tags`, which ascend, those of which a statistic has the name of another one's.
std::vector<AggregateConflict> takeConflicts(const std::vector<AggregateStatistic>& statistics,
                                             std::vector<std::string>* tags);

/// Returns one margin chart per tag, in the categories of the scalars page.
///
/// REQUIRES: a band other than kNone.
CustomScalarsLayout bandCharts(const std::vector<std::string>& tags,
                               const AggregateOptions& options);

}  // namespace steptape::detail::log
