// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail {

// The numbers at the ticks of an axis, for charts of every kind.

/// Rounding errors of a tick that should lie on a limit, in steps.
inline constexpr double kTickTolerance = 1e-9;

/// The smallest of 1, 2, 5, 10 times a power of ten that is not below `step`. REQUIRES: step > 0.
STEPTAPE_EXPORT double niceStep(double step);

/// The least distance of two neighbors; the size of a value alone.
STEPTAPE_EXPORT double leastStep(const std::vector<double>& values);

/// `digits` times every n-th power of ten within [min, max]. REQUIRES: 0 < min.
STEPTAPE_EXPORT std::vector<double> decades(double min, double max,
                                            const std::vector<double>& digits, int every);

/// Numbers as people write them: from 100,000 on in thousands, millions, ...; where these end, and
/// below a thousandth, times a power of ten.
struct ScaledNumbers {
  std::vector<double> values;  ///< Divided by 10^exponent.
  int exponent = 0;
  const char* suffix = "";  ///< "k", "M", "G" or "T" where one stands for 10^exponent.
  int decimals = 0;         ///< The fewest that are exact to a thousandth of a step.
};

STEPTAPE_EXPORT ScaledNumbers scaledNumbers(std::vector<double> values);

}  // namespace steptape::detail
