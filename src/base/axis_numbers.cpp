// SPDX-License-Identifier: Apache-2.0
#include "base/axis_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace steptape::detail::base {
namespace {

int decimalsFor(const std::vector<double>& values) {
  constexpr int kMost = 12;
  const double tolerance = 1e-3 * leastStep(values);
  double factor = 1;
  for (int decimals = 0; decimals < kMost; ++decimals, factor *= 10) {
    const bool isExact = std::all_of(values.begin(), values.end(), [&](double value) {
      return std::abs(value - std::round(value * factor) / factor) <= tolerance;
    });
    if (isExact) {
      return decimals;
    }
  }
  return kMost;
}

/// Chooses the exponent and its suffix for numbers up to `largest`.
void setUnit(double largest, ScaledNumbers* numbers) {
  constexpr std::array<const char*, 4> kSuffixes{"k", "M", "G", "T"};
  if (largest == 0 || (largest >= 1e-3 && largest < 1e5)) {
    return;
  }
  numbers->exponent = static_cast<int>(std::floor(std::log10(largest) + kTickTolerance));
  if (numbers->exponent >= 5 && numbers->exponent < 15) {
    const int thousands = numbers->exponent / 3;
    numbers->exponent = 3 * thousands;
    numbers->suffix = kSuffixes[static_cast<std::size_t>(thousands) - 1];
  }
}

}  // namespace

double niceStep(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= step * (1 - kTickTolerance)) {
      return digit * power;
    }
  }
  return 10 * power;
}

double leastStep(const std::vector<double>& values) {
  double step = values.size() == 1 ? std::abs(values.front()) : HUGE_VAL;
  for (std::size_t i = 1; i < values.size(); ++i) {
    step = std::min(step, std::abs(values[i] - values[i - 1]));
  }
  return step;
}

std::vector<double> decades(double min, double max, const std::vector<double>& digits, int every) {
  std::vector<double> values;
  const int first = static_cast<int>(std::floor(std::log10(min)));
  const int last = static_cast<int>(std::ceil(std::log10(max)));
  for (int power = first; power <= last; ++power) {
    if (power % every != 0) {
      continue;
    }
    for (const double digit : digits) {
      const double value = digit * std::pow(10.0, power);
      if (std::isfinite(value) && value >= min * (1 - kTickTolerance) &&
          value <= max * (1 + kTickTolerance)) {
        values.push_back(value);
      }
    }
  }
  return values;
}

ScaledNumbers scaledNumbers(std::vector<double> values) {
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  ScaledNumbers numbers;
  setUnit(largest, &numbers);
  // Multiplies in two halves because 10^-320 is a denormal number and therefore inexact.
  const int half = numbers.exponent / 2;
  for (double& value : values) {
    value = value / std::pow(10.0, half) / std::pow(10.0, numbers.exponent - half);
  }
  numbers.decimals = decimalsFor(values);
  numbers.values = std::move(values);
  return numbers;
}

}  // namespace steptape::detail::base
