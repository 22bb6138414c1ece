// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// Where a histogram's bucket edges come from: a rule's name, how many of equal width, or the
/// edges.
///
///     options.bins = "fd";
///     options.bins = 50;
///     options.bins = {-1.0, 0.0, 0.5, 1.0};
///
/// - "tensorflow", the default: TensorBoard's fixed limits, which grow by 1.1.
/// - "auto", "fd", "sturges", "doane", "scott", "rice", "sqrt": numpy's rule of that name for how
///   many buckets of equal width lie between the least and the largest finite value.
/// - A count: that many of equal width between the same.
/// - Edges: as given; what lies outside is counted in one more bucket on either side.
///
/// A value that equals an edge belongs to the bucket on its right, but for the last edge, which
/// belongs to the bucket on its left. Equal values make equal widths reach 0.5 to either side.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  numpy.histogram_bin_edges, numpy 2.4: floating-point tensors as it treats float64,
///          integers and bool as it treats integers (never narrower than 1 by a rule).
class HistogramBins {
 public:
  /// Most buckets that a rule or a count makes: a single outlier can ask "fd" for 10^30.
  static constexpr int kMaxCount = 65'536;

  HistogramBins() : HistogramBins("tensorflow") {}
  HistogramBins(const char* rule) : choice_(std::string(rule)) {}          // NOLINT(*-explicit-*)
  HistogramBins(std::string rule) : choice_(std::move(rule)) {}            // NOLINT(*-explicit-*)
  HistogramBins(int count) : choice_(count) {}                             // NOLINT(*-explicit-*)
  HistogramBins(std::vector<double> edges) : choice_(std::move(edges)) {}  // NOLINT(*-explicit-*)
  HistogramBins(std::initializer_list<double> edges) : choice_(std::vector<double>(edges)) {}

  const std::variant<std::string, int, std::vector<double>>& choice() const { return choice_; }

 private:
  std::variant<std::string, int, std::vector<double>> choice_;
};

/// Checks what the caller chose; reads no tensor.
///
/// @param maxBins HistogramOptions::maxBins.
/// @throws Error(kInvalidArgument) naming an unknown rule and those there are, a count outside of
///         1..kMaxCount, fewer than two edges, the first edge that is not finite or not above the
///         one before it, or a negative `maxBins`.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkHistogramBins(const HistogramBins& bins, int maxBins = 0);

}  // namespace steptape
