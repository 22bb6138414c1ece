// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "values/kinds/histogram/histogram.h"
#include "values/kinds/histogram/histogram_rules.h"
#include "values/kinds/histogram/moments.h"
#include "values/kinds/reject.h"
#include "values/kinds/tensor/strided.h"

namespace steptape {
namespace {

constexpr const char* kRules[] = {"tensorflow", "auto",  "fd",   "sturges",
                                  "doane",      "scott", "rice", "sqrt"};

void checkRule(const std::string& rule) {
  if (std::find(std::begin(kRules), std::end(kRules), rule) != std::end(kRules)) {
    return;
  }
  std::string names;
  for (const char* name : kRules) {
    names += (names.empty() ? "\"" : ", \"") + std::string(name) + "\"";
  }
  detail::base::reject("bins = " + detail::base::quoted(rule),
                       "one of " + names + ", a count, or edges");
}

void checkCount(int count) {
  if (count < 1 || count > HistogramBins::kMaxCount) {
    detail::base::reject("bins = " + std::to_string(count),
                         "a count from 1 to " + std::to_string(HistogramBins::kMaxCount));
  }
}

void checkEdges(const std::vector<double>& edges) {
  if (edges.size() < 2) {
    detail::base::reject(std::to_string(edges.size()) + " edges in bins", "at least 2");
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::string edge = "bins[" + std::to_string(i) + "] = " + std::to_string(edges[i]);
    if (!std::isfinite(edges[i])) {
      detail::base::reject(edge,
                           "a finite number; values outside the edges are counted in any case");
    }
    if (i > 0 && edges[i] <= edges[i - 1]) {
      detail::base::reject(edge + " after " + std::to_string(edges[i - 1]), "increasing edges");
    }
  }
}

bool isInteger(DType dtype) {
  return dtype != DType::kFloat16 && dtype != DType::kBFloat16 && dtype != DType::kFloat32 &&
         dtype != DType::kFloat64;
}

/// All results that do not depend on buckets.
struct Survey {
  detail::values::Moments moments;
  std::uint64_t finite = 0;
  detail::values::HistogramData data;  ///< Only the counts of values that are not finite.
};

Survey survey(const TensorView& values) {
  Survey result;
  detail::values::forEachBlock<double>(values, [&](const double* block, std::size_t count) {
    result.moments.add(block, count);
    for (std::size_t i = 0; i < count; ++i) {
      result.finite += std::isfinite(block[i]) ? 1 : 0;
      result.data.nanCount += std::isnan(block[i]) ? 1 : 0;
      result.data.posInfCount += block[i] == std::numeric_limits<double>::infinity() ? 1 : 0;
      result.data.negInfCount += block[i] == -std::numeric_limits<double>::infinity() ? 1 : 0;
    }
  });
  return result;
}

std::vector<double> finiteValues(const TensorView& values) {
  std::vector<double> finite = detail::values::rowMajorElements<double>(values);
  finite.erase(
      std::remove_if(finite.begin(), finite.end(), [](double v) { return !std::isfinite(v); }),
      finite.end());
  return finite;
}

std::size_t bucketCount(const TensorView& values, const HistogramBins& bins, const Survey& all) {
  if (const int* count = std::get_if<int>(&bins.choice())) {
    return static_cast<std::size_t>(*count);
  }
  const std::string& rule = std::get<std::string>(bins.choice());
  detail::values::HistogramSample sample{all.moments.min(),
                                         all.moments.max(),
                                         static_cast<std::size_t>(all.finite),
                                         isInteger(values.dtype()),
                                         {}};
  if (detail::values::ruleNeedsValues(rule)) {
    sample.values = finiteValues(values);
  }
  return detail::values::ruleCount(rule, &sample);
}

/// Counts values in the buckets between edges, and in one bucket on either side.
class EdgeCounter {
 public:
  /// @param scale Buckets per unit if all have equal width, which gives a good first guess; else 0.
  EdgeCounter(std::vector<double> edges, double scale)
      : edges_(std::move(edges)),
        scale_(std::isfinite(scale) ? scale : 0),
        counts_(edges_.size() + 1) {}

  void add(const double* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (std::isfinite(values[i])) {
        ++counts_[bucket(values[i])];
      }
    }
  }

  /// Returns the buckets from the first to the last nonempty one. REQUIRES: a value was added.
  void moveTo(HistogramRaw* raw) const {
    const auto isFilled = [](std::uint64_t count) { return count > 0; };
    const auto first = std::find_if(counts_.begin(), counts_.end(), isFilled);
    const auto end = std::find_if(counts_.rbegin(), counts_.rend(), isFilled).base();
    for (auto count = first; count != end; ++count) {
      const auto i = static_cast<std::size_t>(count - counts_.begin());
      raw->bucketLimits.push_back(i < edges_.size() ? edges_[i]
                                                    : std::numeric_limits<double>::max());
      raw->bucketCounts.push_back(static_cast<double>(*count));
    }
  }

 private:
  /// Returns the number of edges that are not above `value`; the last edge belongs to the bucket on
  /// its left.
  std::size_t bucket(double value) const {
    if (value == edges_.back()) {
      return edges_.size() - 1;
    }
    if (scale_ == 0) {
      const auto above = std::upper_bound(edges_.begin(), edges_.end(), value);
      return static_cast<std::size_t>(above - edges_.begin());
    }
    // Rounding may make the guess wrong by one. It is within the edges, as all values are.
    auto guess = static_cast<std::size_t>((value - edges_.front()) * scale_) + 1;
    guess = std::min(guess, edges_.size() - 1);
    while (value < edges_[guess - 1]) {
      --guess;
    }
    while (value >= edges_[guess]) {
      ++guess;
    }
    return guess;
  }

  const std::vector<double> edges_;
  const double scale_;
  std::vector<std::uint64_t> counts_;
};

EdgeCounter counterFor(const TensorView& values, const HistogramBins& bins, const Survey& all) {
  if (const auto* edges = std::get_if<std::vector<double>>(&bins.choice())) {
    return {*edges, 0};
  }
  const std::size_t count = bucketCount(values, bins, all);
  std::vector<double> edges =
      detail::values::equalWidthEdges(all.moments.min(), all.moments.max(), count);
  const bool isWhole = edges.size() == count + 1;
  const double scale = static_cast<double>(count) / (edges.back() - edges.front());
  return {std::move(edges), isWhole ? scale : 0};
}

detail::values::HistogramData countInBins(const TensorView& values, const HistogramBins& bins) {
  const Survey all = survey(values);
  detail::values::HistogramData result = all.data;
  if (all.finite == 0) {
    return result;
  }
  EdgeCounter counter = counterFor(values, bins, all);
  detail::values::forEachBlock<double>(
      values, [&](const double* block, std::size_t count) { counter.add(block, count); });
  counter.moveTo(&result.raw);
  result.raw.num = static_cast<double>(all.finite);
  result.raw.min = all.moments.min();
  result.raw.max = all.moments.max();
  result.raw.sum = all.moments.sum();
  result.raw.sumSquares = all.moments.sumSquares();
  return result;
}

void joinNeighbors(std::size_t maxBins, HistogramRaw* raw) {
  const std::size_t buckets = raw->bucketCounts.size();
  if (maxBins == 0 || buckets <= maxBins) {
    return;
  }
  const std::size_t group = (buckets + maxBins - 1) / maxBins;
  std::size_t joined = 0;
  for (std::size_t first = 0; first < buckets; first += group, ++joined) {
    const std::size_t last = std::min(first + group, buckets) - 1;
    double count = 0;
    for (std::size_t i = first; i <= last; ++i) {
      count += raw->bucketCounts[i];
    }
    raw->bucketCounts[joined] = count;
    raw->bucketLimits[joined] = raw->bucketLimits[last];
  }
  raw->bucketCounts.resize(joined);
  raw->bucketLimits.resize(joined);
}

}  // namespace

void detail::values::checkHistogramBins(const HistogramBins& bins, std::int64_t maxBins) {
  if (const auto* rule = std::get_if<std::string>(&bins.choice())) {
    checkRule(*rule);
  } else if (const int* count = std::get_if<int>(&bins.choice())) {
    checkCount(*count);
  } else {
    checkEdges(std::get<std::vector<double>>(bins.choice()));
  }
  if (maxBins < 0) {
    detail::base::reject("maxBins = " + std::to_string(maxBins), "0 (no limit) or more");
  }
}

detail::values::HistogramData detail::values::computeHistogram(const TensorView& values,
                                                               const HistogramBins& bins,
                                                               std::int64_t maxBins) {
  detail::values::checkHistogramBins(bins, maxBins);
  const auto* rule = std::get_if<std::string>(&bins.choice());
  const bool isDefault = rule != nullptr && *rule == "tensorflow";
  detail::values::HistogramData data =
      isDefault ? detail::values::computeHistogram(values) : countInBins(values, bins);
  joinNeighbors(static_cast<std::size_t>(maxBins), &data.raw);
  return data;
}

}  // namespace steptape
