// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace steptape::detail::values {

/// The input of numpy's rules.
struct HistogramSample {
  double min;
  double max;
  std::size_t size;            ///< Number of finite values; at least one.
  bool isInteger;              ///< If true, buckets are at least 1 wide.
  std::vector<double> values;  ///< In row-major order; only for rules that need the values.
};

/// Returns whether `rule` depends on more than the sample's size and range.
bool ruleNeedsValues(std::string_view rule);

/// Returns the number of equal-width buckets that numpy makes by `rule`, a name of HistogramBins
/// except "tensorflow"; at most HistogramBins::kMaxCount.
///
/// @param sample Its values are reordered.
/// @source numpy/lib/_histograms_impl.py (2.4)
std::size_t ruleCount(std::string_view rule, HistogramSample* sample);

/// Returns `count` + 1 edges of equal widths from `min` to `max`. If these are equal, the range is
/// half a unit wider on either side. Edges ascend strictly; there are fewer if doubles cannot
/// distinguish them.
///
/// @source numpy.linspace
std::vector<double> equalWidthEdges(double min, double max, std::size_t count);

}  // namespace steptape::detail::values
