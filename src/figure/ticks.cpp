// SPDX-License-Identifier: Apache-2.0
#include "figure/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace steptape::figure {
namespace {

/// Typographic, as wide as a plus; a hyphen is lost beside digits.
constexpr const char* kMinus = "\u2212";
constexpr const char* kTimesTen = "\u00D710";

/// Rounding errors of a tick that should lie on a limit, in steps.
constexpr double kTolerance = 1e-9;

/// The smallest of 1, 2, 5, 10 times a power of ten that is not below `step`.
double niceStep(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= step * (1 - kTolerance)) {
      return digit * power;
    }
  }
  return 10 * power;
}

/// The factor that the numbers are shown in, and what stands for it.
struct Unit {
  int exponent = 0;
  Label suffix;
};

Unit unitFor(double largest) {
  constexpr std::array<const char*, 4> kSuffixes{"k", "M", "G", "T"};
  if (largest == 0 || (largest >= 1e-3 && largest < 1e5)) {
    return {};
  }
  const int exponent = static_cast<int>(std::floor(std::log10(largest) + kTolerance));
  if (exponent >= 5 && exponent < 15) {
    const int thousands = exponent / 3;
    return {3 * thousands, {kSuffixes[static_cast<std::size_t>(thousands) - 1], ""}};
  }
  return {exponent, {kTimesTen, (exponent < 0 ? kMinus : "") + std::to_string(std::abs(exponent))}};
}

/// The least distance of two neighbours.
double leastStep(const std::vector<double>& values) {
  double step = values.size() == 1 ? std::abs(values.front()) : HUGE_VAL;
  for (std::size_t i = 1; i < values.size(); ++i) {
    step = std::min(step, std::abs(values[i] - values[i - 1]));
  }
  return step;
}

/// How many decimals tell the numbers apart and exactly, up to a thousandth of a step.
int decimalsFor(const std::vector<double>& values) {
  constexpr int kMost = 12;
  const double tolerance = 1e-3 * leastStep(values);
  double factor = 1;
  for (int decimals = 0; decimals < kMost; ++decimals, factor *= 10) {
    const bool exact = std::all_of(values.begin(), values.end(), [&](double value) {
      return std::abs(value - std::round(value * factor) / factor) <= tolerance;
    });
    if (exact) {
      return decimals;
    }
  }
  return kMost;
}

std::string fixed(double value, int decimals) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, std::abs(value));
  const bool isNegative =
      value < 0 && std::string(text.data()).find_first_of("123456789") != std::string::npos;
  return (isNegative ? kMinus : "") + std::string(text.data());
}

Label powerOfTen(int exponent) {
  return {"10", (exponent < 0 ? kMinus : "") + std::to_string(std::abs(exponent))};
}

/// `digits` times each power of ten within the range.
std::vector<double> decadeTicks(const AxisRange& range, const std::vector<double>& digits,
                                int everyPower) {
  std::vector<double> ticks;
  const int first = static_cast<int>(std::floor(std::log10(range.min)));
  const int last = static_cast<int>(std::ceil(std::log10(range.max)));
  for (int power = first; power <= last; ++power) {
    if (power % everyPower != 0) {
      continue;
    }
    for (const double digit : digits) {
      const double tick = digit * std::pow(10.0, power);
      if (std::isfinite(tick) && tick >= range.min * (1 - kTolerance) &&
          tick <= range.max * (1 + kTolerance)) {
        ticks.push_back(tick);
      }
    }
  }
  return ticks;
}

std::vector<Tick> labelled(const std::vector<double>& values, const std::vector<Label>& labels) {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ticks.push_back({values[i], labels[i]});
  }
  return ticks;
}

/// Ticks at powers of ten, every one or every n-th; nothing if there are fewer than two.
Ticks powerTicks(const AxisRange& range, int maxCount) {
  const std::size_t powers = decadeTicks(range, {1}, 1).size();
  if (powers < 2) {
    return {};
  }
  int every = 1;
  std::vector<double> values = decadeTicks(range, {1}, every);
  while (values.size() > static_cast<std::size_t>(maxCount)) {
    values = decadeTicks(range, {1}, ++every);
  }
  std::vector<Label> labels;
  labels.reserve(values.size());
  for (const double value : values) {
    labels.push_back(powerOfTen(static_cast<int>(std::lround(std::log10(value)))));
  }
  Ticks ticks;
  ticks.major = labelled(values, labels);
  if (every > 1) {
    ticks.minor = decadeTicks(range, {1}, 1);
  } else if (powers <= 6) {
    ticks.minor = decadeTicks(range, {2, 3, 4, 5, 6, 7, 8, 9}, 1);
  }
  return ticks;
}

}  // namespace

std::vector<double> linearTicks(double min, double max, int maxCount, double minStep) {
  // Halved, because the difference of two doubles may be infinite.
  const double halfRange = max / 2 - min / 2;
  double step = niceStep(std::max(halfRange / std::max(maxCount, 2) * 2, minStep));
  while (true) {
    // Counted, not added up: multiples of a step have no error that grows.
    const double first = std::ceil(min / step - kTolerance);
    const double last = std::floor(max / step + kTolerance);
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
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  const Unit unit = unitFor(largest);
  std::vector<double> scaled = values;
  for (double& value : scaled) {
    value /= std::pow(10.0, unit.exponent);
  }
  const int decimals = decimalsFor(scaled);
  std::vector<Label> labels;
  labels.reserve(scaled.size());
  for (const double value : scaled) {
    labels.push_back(
        value == 0 ? Label{"0", ""}
                   : Label{fixed(value, decimals) + unit.suffix.text, unit.suffix.superscript});
  }
  return labels;
}

Ticks ticksFor(const AxisRange& range, int maxCount, double minStep) {
  if (range.scale == AxisScale::kLog) {
    Ticks powers = powerTicks(range, maxCount);
    if (!powers.major.empty()) {
      return powers;
    }
    const std::vector<double> values = decadeTicks(range, {1, 2, 5}, 1);
    if (values.size() >= 2 && values.size() <= static_cast<std::size_t>(maxCount)) {
      return {labelled(values, numberLabels(values)), decadeTicks(range, {3, 4, 6, 7, 8, 9}, 1)};
    }
  }
  const std::vector<double> values = linearTicks(range.min, range.max, maxCount, minStep);
  return {labelled(values, numberLabels(values)), {}};
}

}  // namespace steptape::figure
