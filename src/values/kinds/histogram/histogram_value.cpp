// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "steptape/events/plugin_content.h"

#include "events/messages/value_metadata.h"
#include "values/kinds/histogram/histogram.h"
#include "values/kinds/reject.h"

namespace steptape {
namespace {

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.17g", value);
  return buffer;
}

std::string element(const char* name, std::size_t i, double value) {
  return std::string(name) + "[" + std::to_string(i) + "] = " + text(value);
}

void checkLimits(const std::vector<double>& limits) {
  for (std::size_t i = 0; i < limits.size(); ++i) {
    // The last bucket may have no upper limit: it is shown up to the maximum.
    const bool isOpenEnd = i + 1 == limits.size() && limits[i] > 0 && std::isinf(limits[i]);
    if (!std::isfinite(limits[i]) && !isOpenEnd) {
      detail::base::reject(element("bucketLimits", i, limits[i]), "a finite number");
    }
    if (i > 0 && limits[i] <= limits[i - 1]) {
      detail::base::reject(element("bucketLimits", i, limits[i]) + " after " + text(limits[i - 1]),
                           "increasing limits");
    }
  }
}

void checkCounts(const std::vector<double>& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!std::isfinite(counts[i]) || counts[i] < 0) {
      detail::base::reject(element("bucketCounts", i, counts[i]), "a finite number, 0 or more");
    }
  }
}

/// The range of buckets from the first to the last nonempty one.
struct Support {
  std::size_t first;
  std::size_t end;
  std::size_t size() const { return end - first; }
};

Support supportOf(const std::vector<double>& counts) {
  const auto isFilled = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), isFilled);
  if (first == counts.end()) {
    return {0, 0};
  }
  const auto end = std::find_if(counts.rbegin(), counts.rend(), isFilled).base();
  return {static_cast<std::size_t>(first - counts.begin()),
          static_cast<std::size_t>(end - counts.begin())};
}

/// Returns the range's edges, one more than buckets. `min` and `max` may be wrong if the caller
/// gave them, so they extend the outer buckets but never give one a negative width.
std::vector<double> edgesOf(const HistogramRaw& histogram, Support support) {
  const auto limits = histogram.bucketLimits.begin();
  std::vector<double> edges = {histogram.min};
  edges.insert(edges.end(), limits + static_cast<std::ptrdiff_t>(support.first),
               limits + static_cast<std::ptrdiff_t>(support.end - 1));
  edges.push_back(histogram.max);
  edges.front() = std::min(edges.front(), edges[1]);
  edges.back() = std::max(edges.back(), edges[edges.size() - 2]);
  return edges;
}

void appendDouble(double value, std::string* out) {
  // Event files are little-endian, as are all supported processors.
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out->append(bytes, sizeof(bytes));
}

/// The content of both forms: the buckets of the range with `size() + 1` edges.
struct Buckets {
  std::vector<double> edges;
  std::vector<double> counts;
  double lastLimit = 0;  ///< Right edge of the last bucket, even if it is far from `max`.
};

Buckets bucketsOf(const HistogramRaw& histogram) {
  const Support support = supportOf(histogram.bucketCounts);
  if (support.size() == 0) {
    return {};
  }
  const auto counts = histogram.bucketCounts.begin();
  return {edgesOf(histogram, support),
          std::vector<double>(counts + static_cast<std::ptrdiff_t>(support.first),
                              counts + static_cast<std::ptrdiff_t>(support.end)),
          histogram.bucketLimits[support.end - 1]};
}

bool fitsIntoFloats(const std::vector<double>& edges) {
  const auto merge = [](double left, double right) {
    return left < right && !(static_cast<float>(left) < static_cast<float>(right));
  };
  return std::adjacent_find(edges.begin(), edges.end(), merge) == edges.end() &&
         std::all_of(edges.begin(), edges.end(), [](double edge) {
           return std::abs(edge) <= double{std::numeric_limits<float>::max()};
         });
}

event::Tensor bucketTensor(const Buckets& buckets) {
  event::Tensor tensor;
  tensor.type = event::TensorType::kDouble;
  tensor.shape = {static_cast<std::int64_t>(buckets.counts.size()), 3};
  tensor.content.reserve(buckets.counts.size() * 3 * sizeof(double));
  for (std::size_t i = 0; i < buckets.counts.size(); ++i) {
    appendDouble(buckets.edges[i], &tensor.content);
    appendDouble(buckets.edges[i + 1], &tensor.content);
    appendDouble(buckets.counts[i], &tensor.content);
  }
  return tensor;
}

/// TensorBoard takes the outer edges from `min` and `max`, and the others from the limits.
/// Importers such as W&B's take all edges from the limits, and expect the first limit to be above
/// `min`.
event::SummaryHistogram compatibleHistogram(const HistogramRaw& histogram, Buckets buckets) {
  event::SummaryHistogram value;
  value.min = histogram.min;
  value.max = histogram.max;
  value.num = histogram.num;
  value.sum = histogram.sum;
  value.sumSquares = histogram.sumSquares;
  if (!buckets.edges.empty()) {
    value.min = buckets.edges.front();
    value.max = buckets.edges.back();
    value.bucketLimits.assign(buckets.edges.begin() + 1, buckets.edges.end());
    const double left = buckets.edges[buckets.edges.size() - 2];
    const double limit = std::isfinite(buckets.lastLimit) ? buckets.lastLimit : value.max;
    value.bucketLimits.back() =
        std::max(limit, std::nextafter(left, std::numeric_limits<double>::infinity()));
  }
  value.bucketCounts = std::move(buckets.counts);
  return value;
}

}  // namespace

void detail::values::checkHistogram(const HistogramRaw& histogram) {
  if (histogram.bucketLimits.size() != histogram.bucketCounts.size()) {
    detail::base::reject(std::to_string(histogram.bucketLimits.size()) + " bucketLimits and " +
                             std::to_string(histogram.bucketCounts.size()) + " bucketCounts",
                         "equally many: the right edge and the count of each bucket");
  }
  checkLimits(histogram.bucketLimits);
  checkCounts(histogram.bucketCounts);
  if (!std::isfinite(histogram.min) || !std::isfinite(histogram.max) ||
      histogram.min > histogram.max) {
    detail::base::reject("min = " + text(histogram.min) + " and max = " + text(histogram.max),
                         "finite numbers, min at most max");
  }
}

event::Value detail::values::histogramValue(std::string tag, const HistogramRaw& histogram,
                                            event::SummaryMetadata metadata, ValueForm form) {
  metadata.pluginName = event::kHistogramsPlugin;
  metadata.pluginContent.clear();
  metadata.dataClass = event::DataClass::kTensor;
  Buckets buckets = bucketsOf(histogram);
  if (form == ValueForm::kCompatible && fitsIntoFloats(buckets.edges)) {
    return {std::move(tag), compatibleHistogram(histogram, std::move(buckets)),
            detail::events::metadataIfNamed(std::move(metadata))};
  }
  return {std::move(tag), bucketTensor(buckets), std::move(metadata)};
}

}  // namespace steptape
