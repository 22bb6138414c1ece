// SPDX-License-Identifier: Apache-2.0
#include "tools/tick_labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fmt/format.h>

namespace steptape::tools {
namespace {

constexpr int kMostDecimals = 12;

/// The least distance of two neighbours; of one alone, what it is.
double leastStep(const std::vector<double>& values) {
  double step = values.size() == 1 ? std::abs(values.front()) : HUGE_VAL;
  for (std::size_t i = 1; i < values.size(); ++i) {
    step = std::min(step, std::abs(values[i] - values[i - 1]));
  }
  return step;
}

double largestOf(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

/// The fewest decimals that are exact to a thousandth of a step.
int decimalsFor(const std::vector<double>& values) {
  const double tolerance = 1e-3 * leastStep(values);
  double factor = 1;
  for (int decimals = 0; decimals < kMostDecimals; ++decimals, factor *= 10) {
    const bool isExact = std::all_of(values.begin(), values.end(), [&](double value) {
      return std::abs(value - std::round(value * factor) / factor) <= tolerance;
    });
    if (isExact) {
      return decimals;
    }
  }
  return kMostDecimals;
}

/// The power of ten that numbers are shown in, and what stands for it.
struct Unit {
  int exponent = 0;
  std::string suffix;
};

Unit unitFor(double largest) {
  constexpr std::array<const char*, 4> kSuffixes{"k", "M", "G", "T"};
  if (largest == 0 || (largest >= 1e-3 && largest < 1e5)) {
    return {};
  }
  const int exponent = static_cast<int>(std::floor(std::log10(largest) + 1e-9));
  if (exponent >= 5 && exponent < 15) {
    const int thousands = exponent / 3;
    return {3 * thousands, kSuffixes[static_cast<std::size_t>(thousands) - 1]};
  }
  return {exponent, fmt::format("e{}", exponent)};
}

/// `value` / 10^exponent, for any double: 10^-320 by itself is not exact.
double scaled(double value, int exponent) {
  const int half = exponent / 2;
  return value / std::pow(10.0, half) / std::pow(10.0, exponent - half);
}

std::tm localTime(double seconds) {
  const auto time = static_cast<std::time_t>(std::floor(seconds));
  std::tm parts{};
  localtime_r(&time, &parts);
  return parts;
}

std::string formatted(const std::tm& time, const char* format) {
  std::array<char, 64> text;
  return {text.data(), std::strftime(text.data(), text.size(), format, &time)};
}

std::string durationLabel(double seconds) {
  struct Part {
    double seconds;
    char unit;
  };
  constexpr std::array<Part, 4> kParts{{{kDaySeconds, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}}};
  if (std::abs(seconds) < 60) {
    return seconds == 0 ? "0" : fmt::format("{:.6g}s", seconds);
  }
  std::string label = seconds < 0 ? "-" : "";
  double rest = std::round(std::abs(seconds));
  int shown = 0;
  for (const Part& part : kParts) {
    const double count = std::floor(rest / part.seconds);
    rest -= count * part.seconds;
    if (count > 0 && shown < 2) {
      label += fmt::format("{:.0f}{}", count, part.unit);
    }
    shown += count > 0 || shown > 0 ? 1 : 0;
  }
  return label;
}

}  // namespace

std::vector<std::string> numberLabels(const std::vector<double>& values) {
  const Unit unit = unitFor(largestOf(values));
  std::vector<double> shown;
  shown.reserve(values.size());
  for (const double value : values) {
    shown.push_back(scaled(value, unit.exponent));
  }
  const int decimals = decimalsFor(shown);
  std::vector<std::string> labels;
  labels.reserve(shown.size());
  for (const double value : shown) {
    // A zero that rounding has left negative, and a zero with a unit, are just zero.
    labels.push_back(value == 0 ? "0" : fmt::format("{:.{}f}{}", value, decimals, unit.suffix));
  }
  return labels;
}

std::string numberLabel(double value) {
  return numberLabels({value}).front();
}

std::vector<std::string> durationLabels(const std::vector<double>& seconds) {
  std::vector<std::string> labels;
  labels.reserve(seconds.size());
  for (const double value : seconds) {
    labels.push_back(durationLabel(value));
  }
  return labels;
}

std::vector<std::string> wallTimeLabels(const std::vector<double>& seconds) {
  const double step = seconds.size() < 2 ? 0 : leastStep(seconds);
  std::string format = step < 60 ? "%H:%M:%S" : "%H:%M";
  if (step > kDaySeconds - 7200) {  // Days may lack an hour.
    format = "%Y-%m-%d";
  } else if (commonDate(seconds).empty()) {
    format.insert(0, "%m-%d ");
  }
  std::vector<std::string> labels;
  labels.reserve(seconds.size());
  for (const double value : seconds) {
    labels.push_back(formatted(localTime(value), format.c_str()));
  }
  return labels;
}

std::string commonDate(const std::vector<double>& seconds) {
  std::string date;
  for (const double value : seconds) {
    const std::string other = formatted(localTime(value), "%Y-%m-%d");
    if (!date.empty() && other != date) {
      return "";
    }
    date = other;
  }
  return date;
}

}  // namespace steptape::tools
