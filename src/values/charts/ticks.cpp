// SPDX-License-Identifier: Apache-2.0
#include "values/charts/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/axis_numbers.h"

namespace steptape::figure {
namespace {

using detail::base::decades;
using detail::base::kTickTolerance;
using detail::base::niceStep;

/// The typographic minus, as wide as a plus; a hyphen is hard to see next to digits.
constexpr const char* kMinus = "\u2212";
constexpr const char* kTimesTen = "\u00D710";

std::string fixed(double value, int decimals) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, std::abs(value));
  const bool isNegative =
      value < 0 && std::string(text.data()).find_first_of("123456789") != std::string::npos;
  return (isNegative ? kMinus : "") + std::string(text.data());
}

std::string integerText(int value) {
  return (value < 0 ? kMinus : "") + std::to_string(std::abs(value));
}

std::vector<Tick> labeled(const std::vector<double>& values, const std::vector<Label>& labels) {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ticks.push_back({values[i], labels[i]});
  }
  return ticks;
}

/// Returns ticks at every n-th power of ten; none if there would be fewer than two.
Ticks powerTicks(const AxisRange& range, int maxCount) {
  const std::size_t powers = decades(range.min, range.max, {1}, 1).size();
  if (powers < 2) {
    return {};
  }
  int every = 1;
  std::vector<double> values = decades(range.min, range.max, {1}, every);
  while (values.size() > static_cast<std::size_t>(maxCount)) {
    values = decades(range.min, range.max, {1}, ++every);
  }
  std::vector<Label> labels;
  labels.reserve(values.size());
  for (const double value : values) {
    labels.push_back({"10", integerText(static_cast<int>(std::lround(std::log10(value))))});
  }
  Ticks ticks;
  ticks.major = labeled(values, labels);
  if (every > 1) {
    ticks.minor = decades(range.min, range.max, {1}, 1);
  } else if (powers <= 6) {
    ticks.minor = decades(range.min, range.max, {2, 3, 4, 5, 6, 7, 8, 9}, 1);
  }
  return ticks;
}

}  // namespace

std::vector<double> linearTicks(double min, double max, int maxCount, double minStep) {
  // Halved, because the difference of two doubles may overflow.
  const double halfRange = max / 2 - min / 2;
  double step = niceStep(std::max(halfRange / std::max(maxCount, 2) * 2, minStep));
  while (true) {
    // Multiplies instead of adding up, so that rounding errors do not accumulate.
    const double first = std::ceil(min / step - kTickTolerance);
    const double last = std::floor(max / step + kTickTolerance);
    if (last - first + 1 <= maxCount || !std::isfinite(last - first)) {
      std::vector<double> ticks;
      for (double i = first; i <= last && ticks.size() < static_cast<std::size_t>(maxCount); ++i) {
        ticks.push_back(i * step);
      }
      return ticks;
    }
    step = niceStep(step * 1.5);
  }
}

std::vector<Label> numberLabels(const std::vector<double>& values) {
  const detail::base::ScaledNumbers scaled = detail::base::scaledNumbers(values);
  const bool isPower = scaled.exponent != 0 && *scaled.suffix == '\0';
  const Label unit =
      isPower ? Label{kTimesTen, integerText(scaled.exponent)} : Label{scaled.suffix, ""};
  std::vector<Label> labels;
  labels.reserve(values.size());
  for (const double value : scaled.values) {
    labels.push_back(value == 0
                         ? Label{"0", ""}
                         : Label{fixed(value, scaled.decimals) + unit.text, unit.superscript});
  }
  return labels;
}

Ticks ticksFor(const AxisRange& range, int maxCount, double minStep) {
  if (range.scale == AxisScale::kLog) {
    Ticks powers = powerTicks(range, maxCount);
    if (!powers.major.empty()) {
      return powers;
    }
    const std::vector<double> values = decades(range.min, range.max, {1, 2, 5}, 1);
    if (values.size() >= 2 && values.size() <= static_cast<std::size_t>(maxCount)) {
      return {labeled(values, numberLabels(values)),
              decades(range.min, range.max, {3, 4, 6, 7, 8, 9}, 1)};
    }
  }
  const std::vector<double> values = linearTicks(range.min, range.max, maxCount, minStep);
  return {labeled(values, numberLabels(values)), {}};
}

}  // namespace steptape::figure
