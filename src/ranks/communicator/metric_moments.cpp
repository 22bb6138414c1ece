// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "steptape/ranks/collective.h"

namespace steptape {

MetricMoments MetricMoments::of(double value, double weight, int rank) {
  MetricMoments moments;
  if (weight == 0) {
    return moments;
  }
  moments.weight = weight;
  moments.weightedSum = weight * value;
  moments.min = value;
  moments.max = value;
  moments.maxRank = rank;
  return moments;
}

void MetricMoments::merge(const MetricMoments& other) {
  if (other.weight == 0) {
    return;
  }
  if (weight == 0) {
    *this = other;
    return;
  }
  const double total = weight + other.weight;
  const double delta = mean() - other.mean();
  squaredDeviations = (squaredDeviations + other.squaredDeviations) +
                      delta * delta * (weight * other.weight / total);
  weight = total;
  weightedSum += other.weightedSum;

  // A NaN becomes both the minimum and the maximum, so that it is visible.
  if (std::isnan(other.min) || other.min < min) {
    min = other.min;
  }
  const bool isNan = std::isnan(max);
  const bool otherIsNan = std::isnan(other.max);
  if (other.max == max || (isNan && otherIsNan)) {
    maxRank = std::min(maxRank, other.maxRank);
  } else if (otherIsNan || other.max > max) {
    max = other.max;
    maxRank = other.maxRank;
  }
}

double MetricMoments::std() const {
  return std::sqrt(squaredDeviations / weight);
}

}  // namespace steptape
