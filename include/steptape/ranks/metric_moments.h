// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "steptape/base/export.h"

namespace steptape {

/// Summarizes a metric's values on several ranks: weighted mean, standard deviation, minimum,
/// maximum, and the rank with the maximum. A monoid under merge(), so one allreduce combines all
/// metrics of a step.
///
/// A default-constructed object is the neutral element: no rank had a value.
///
/// NaN propagates: one NaN makes mean, std, min and max NaN, and `maxRank` is the lowest rank that
/// had a NaN. Infinities propagate in the same way.
///
/// @threads Thread-compatible: const methods may run concurrently.
struct STEPTAPE_EXPORT MetricMoments {
  double weight = 0;       ///< Sum of weights; 0: no rank had a value.
  double weightedSum = 0;  ///< Sum of weight * value.
  /// Sum of weight * (value - mean())^2. Kept about the mean, because the difference of two sums of
  /// squares loses all digits if the spread is small compared with the mean.
  double squaredDeviations = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double maxRank = -1;  ///< Lowest rank with `max`; a double, as all members, for MPI.

  /// Returns the moments of one value on one rank. Weight 0: the rank has no value.
  ///
  /// @param value  The rank's value.
  /// @param weight Weight of the value, such as its number of samples; finite and >= 0.
  /// @param rank   The rank that had the value.
  static MetricMoments of(double value, double weight, int rank);

  /// Adds the values of `other`, which must be other values than those in this object. Commutative
  /// to the last bit; associative up to rounding.
  ///
  /// @source Chan, Golub, LeVeque 1979, "Updating Formulae and a Pairwise Algorithm for Computing
  ///         Sample Variances", equation 1.5, with weights for counts.
  void merge(const MetricMoments& other);

  /// Returns the weighted mean; NaN if no rank had a value.
  double mean() const { return weightedSum / weight; }

  /// Returns the population standard deviation of the weighted values; NaN if no rank had a value.
  double std() const;
};

}  // namespace steptape
