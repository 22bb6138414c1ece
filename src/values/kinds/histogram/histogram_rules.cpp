// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/histogram/histogram_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "steptape/values/value_options.h"

#include "values/kinds/histogram/histogram_bins.h"

namespace steptape::detail::values {
namespace {

/// Adds `term(value)` for all values in numpy's order: eight sums per block, and blocks pairwise.
/// This is more exact than one sum, and gives the same doubles as numpy for the widths.
template <typename Term>
double pairwiseSum(const double* values, std::size_t count, const Term& term) {
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kBlock = 128;
  if (count > kBlock) {
    const std::size_t half = count / 2 / kLanes * kLanes;
    return pairwiseSum(values, half, term) + pairwiseSum(values + half, count - half, term);
  }
  double sum = 0;
  std::size_t i = 0;
  if (count >= kLanes) {
    double lanes[kLanes] = {};
    for (; i + kLanes <= count; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] += term(values[i + lane]);
      }
    }
    sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
          ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
  for (; i < count; ++i) {
    sum += term(values[i]);
  }
  return sum;
}

template <typename Term>
double meanOf(const std::vector<double>& values, const Term& term) {
  return pairwiseSum(values.data(), values.size(), term) / static_cast<double>(values.size());
}

double mean(const std::vector<double>& values) {
  return meanOf(values, [](double value) { return value; });
}

double standardDeviation(const std::vector<double>& values, double mean) {
  return std::sqrt(
      meanOf(values, [mean](double value) { return (value - mean) * (value - mean); }));
}

/// Interpolates a quantile linearly between two neighbors; reorders the values.
double quantile(double fraction, std::vector<double>* values) {
  const double position = fraction * static_cast<double>(values->size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto at = values->begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values->begin(), at, values->end());
  if (at + 1 == values->end()) {
    return *at;
  }
  const double a = *at;
  const double b = *std::min_element(at + 1, values->end());
  const double t = position - static_cast<double>(below);
  return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

double fdWidth(HistogramSample* sample) {
  const double upper = quantile(0.75, &sample->values);
  const double lower = quantile(0.25, &sample->values);
  return 2.0 * (upper - lower) * std::pow(static_cast<double>(sample->size), -1.0 / 3.0);
}

double sturgesWidth(const HistogramSample& sample) {
  return (sample.max - sample.min) / (std::log2(static_cast<double>(sample.size)) + 1.0);
}

double sqrtWidth(const HistogramSample& sample) {
  return (sample.max - sample.min) / std::sqrt(static_cast<double>(sample.size));
}

double riceWidth(const HistogramSample& sample) {
  return (sample.max - sample.min) / (2.0 * std::pow(static_cast<double>(sample.size), 1.0 / 3.0));
}

double scottWidth(const HistogramSample& sample) {
  constexpr double kPi = 3.14159265358979323846;
  return std::pow(24.0 * std::sqrt(kPi) / static_cast<double>(sample.size), 1.0 / 3.0) *
         standardDeviation(sample.values, mean(sample.values));
}

double doaneWidth(const HistogramSample& sample) {
  const auto size = static_cast<double>(sample.size);
  const double center = mean(sample.values);
  const double deviation = standardDeviation(sample.values, center);
  if (sample.size <= 2 || !(deviation > 0)) {
    return 0;
  }
  const double skewness = meanOf(sample.values, [center, deviation](double value) {
    const double scaled = (value - center) / deviation;
    return scaled * scaled * scaled;
  });
  const double skewnessError = std::sqrt(6.0 * (size - 2) / ((size + 1.0) * (size + 3)));
  return (sample.max - sample.min) /
         (1.0 + std::log2(size) + std::log2(1.0 + std::fabs(skewness) / skewnessError));
}

double autoWidth(HistogramSample* sample) {
  // Limits the buckets to twice as many as "sqrt" makes, whatever the quartiles are.
  const double fd = std::max(fdWidth(sample), sqrtWidth(*sample) / 2);
  return std::min(fd, sturgesWidth(*sample));
}

double ruleWidth(std::string_view rule, HistogramSample* sample) {
  if (rule == "fd") {
    return fdWidth(sample);
  }
  if (rule == "sturges") {
    return sturgesWidth(*sample);
  }
  if (rule == "doane") {
    return doaneWidth(*sample);
  }
  if (rule == "scott") {
    return scottWidth(*sample);
  }
  if (rule == "rice") {
    return riceWidth(*sample);
  }
  if (rule == "sqrt") {
    return sqrtWidth(*sample);
  }
  return autoWidth(sample);
}

}  // namespace

bool ruleNeedsValues(std::string_view rule) {
  return rule == "auto" || rule == "fd" || rule == "scott" || rule == "doane";
}

std::size_t ruleCount(std::string_view rule, HistogramSample* sample) {
  if (sample->min == sample->max) {
    return 1;
  }
  double width = ruleWidth(rule, sample);
  // The width is 0 for "fd" if half of the values are equal, and NaN if the range exceeds double.
  if (!(width > 0)) {
    return 1;
  }
  if (sample->isInteger) {
    width = std::max(width, 1.0);
  }
  const double count = std::ceil((sample->max - sample->min) / width);
  if (!(count >= 1)) {
    return 1;
  }
  return static_cast<std::size_t>(std::min(count, double{HistogramBins::kMaxCount}));
}

std::vector<double> equalWidthEdges(double min, double max, std::size_t count) {
  if (min == max) {
    min -= 0.5;
    max += 0.5;
  }
  // Uses halves only if the range exceeds double.
  const double scale = std::isfinite(max - min) ? 1 : 2;
  const double width = (max / scale - min / scale) / static_cast<double>(count);
  std::vector<double> edges = {min};
  for (std::size_t i = 1; i < count; ++i) {
    const double edge = (static_cast<double>(i) * width + min / scale) * scale;
    if (edge > edges.back() && edge < max) {
      edges.push_back(edge);
    }
  }
  // Above 2^53, half a unit is rounded away: then one bucket holds only the value.
  edges.push_back(std::max(max, std::nextafter(min, std::numeric_limits<double>::infinity())));
  return edges;
}

}  // namespace steptape::detail::values
