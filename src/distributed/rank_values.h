// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steptape/comm/metric_moments.h"

namespace steptape::detail {

/// What one rank has for a metric, as it travels.
struct RankValue {
  double value;
  double weight;  ///< 0: the rank has no value.
};

/// Appends the mean of what a rank queued for a metric.
void appendRankValue(std::string& bytes, const MetricMoments& own);

/// Sets `values` to metric number `at` of what appendRankValue() made on each rank, without ranks
/// that have no value, ascending; NaN comes last.
///
/// @throws Error(kRankMismatch) if a rank sent fewer metrics.
void rankValuesAt(const std::vector<std::string>& bytesByRank, std::size_t at,
                  std::vector<RankValue>& values);

/// The least value such that it and those below it hold `percent` % of the weight; NaN if any value
/// is.
///
/// @param values As rankValuesAt() sets them; at least one.
double percentileOf(const std::vector<RankValue>& values, double percent);

}  // namespace steptape::detail
