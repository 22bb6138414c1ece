// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steptape/ranks/collective.h"

namespace steptape::detail::metrics {

/// The value of one rank for a metric, in the form in which it is sent.
struct RankValue {
  double value;
  double weight;  ///< 0: the rank has no value.
};

/// Appends the mean of a metric on this rank.
void appendRankValue(std::string& bytes, const MetricMoments& own);

/// Sets `values` to metric number `at` in the results of appendRankValue() of each rank, without
/// ranks that have no value, in ascending order; NaN is last.
///
/// @throws Error(kRankMismatch) if a rank sent fewer metrics.
void rankValuesAt(const std::vector<std::string>& bytesByRank, std::size_t at,
                  std::vector<RankValue>& values);

/// Returns the smallest value such that it and the values below it have `percent` % of the weight;
/// NaN if any value is NaN.
///
/// @param values As rankValuesAt() sets them; at least one.
double percentileOf(const std::vector<RankValue>& values, double percent);

}  // namespace steptape::detail::metrics
