// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace steptape::detail {

/// What numpy's rules look at.
struct HistogramSample {
  double min;
  double max;
  std::size_t size;            ///< How many finite values; at least one.
  bool isInteger;              ///< Buckets are not made narrower than 1.
  std::vector<double> values;  ///< In row-major order; only for rules that need them.
};

/// Whether `rule` depends on more than the sample's size and range.
bool ruleNeedsValues(std::string_view rule);

/// How many buckets of equal width numpy makes by `rule`, one of HistogramBins' names but
/// "tensorflow"; at most HistogramBins::kMaxCount.
///
/// @param sample Its values are reordered.
/// @source numpy/lib/_histograms_impl.py (2.4)
std::size_t ruleCount(std::string_view rule, HistogramSample* sample);

/// The edges, one more than `count`, of equal widths from `min` to `max`; half a unit more on
/// either side if these are equal. Fewer where doubles cannot tell them apart: they ascend
/// strictly.
///
/// @source numpy.linspace
std::vector<double> equalWidthEdges(double min, double max, std::size_t count);

}  // namespace steptape::detail
