// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail::base {

// Numbers at the ticks of an axis, for charts of every kind.

/// Tolerance for rounding errors of a tick that lies on an axis limit, in steps.
inline constexpr double kTickTolerance = 1e-9;

/// Returns the smallest of 1, 2, 5 or 10 times a power of ten that is at least `step`. REQUIRES:
/// step > 0.
STEPTAPE_EXPORT double niceStep(double step);

/// Returns the smallest distance between two neighboring values, or the magnitude of a single
/// value.
STEPTAPE_EXPORT double leastStep(const std::vector<double>& values);

/// Returns `digits` times every n-th power of ten within [min, max]. REQUIRES: 0 < min.
STEPTAPE_EXPORT std::vector<double> decades(double min, double max,
                                            const std::vector<double>& digits, int every);

/// Numbers scaled for an axis: in thousands, millions, … from 100,000 on. Numbers beyond these
/// units or below one thousandth are scaled by a power of ten.
struct ScaledNumbers {
  std::vector<double> values;  ///< Divided by 10^exponent.
  int exponent = 0;
  const char* suffix = "";  ///< "k", "M", "G" or "T" if it stands for 10^exponent.
  int decimals = 0;         ///< Fewest decimals that are exact to a thousandth of a step.
};

STEPTAPE_EXPORT ScaledNumbers scaledNumbers(std::vector<double> values);

}  // namespace steptape::detail::base
