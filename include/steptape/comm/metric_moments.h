// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "steptape/base/export.h"

namespace steptape {

/// What must be known of a metric's values on several ranks to state their weighted mean, standard
/// deviation, minimum and maximum, and which rank had the maximum. A monoid under merge(), so that
/// one allreduce combines all metrics of a step.
///
/// A default-constructed one is the neutral element: no rank had a value.
///
/// NaN is not hidden: one NaN makes mean, std, min and max NaN, and `maxRank` names the lowest rank
/// that had one. An infinity passes through in the same way.
///
/// @threads Thread-compatible: const methods may run concurrently.
struct STEPTAPE_EXPORT MetricMoments {
  double weight = 0;       ///< Sum of weights; 0: no rank had a value.
  double weightedSum = 0;  ///< Sum of weight * value.
  /// Sum of weight * (value - mean())^2. Kept about the mean, because the difference of two sums of
  /// squares loses all digits where the spread is small beside the mean.
  double squaredDeviations = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double maxRank = -1;  ///< Lowest rank that had `max`; a double keeps the struct one type for MPI.

  /// The moments of one value on one rank. A weight of 0 says that the rank has no value.
  ///
  /// @param weight How much the value counts, such as its number of samples; finite and >= 0.
  static MetricMoments of(double value, double weight, int rank);

  /// Combines two disjoint groups of values. Commutative to the last bit, associative up to
  /// rounding.
  ///
  /// @source Chan, Golub, LeVeque 1979, "Updating Formulae and a Pairwise Algorithm for Computing
  ///         Sample Variances", equation 1.5, with weights for counts.
  void merge(const MetricMoments& other);

  /// The weighted mean; NaN if no rank had a value.
  double mean() const { return weightedSum / weight; }

  /// Population standard deviation of the weighted values; NaN if no rank had a value.
  double std() const;
};

}  // namespace steptape
