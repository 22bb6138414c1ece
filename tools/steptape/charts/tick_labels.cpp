// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/tick_labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fmt/format.h>

#include "base/axis_numbers.h"
#include "tools/steptape/tables/human_text.h"

namespace steptape::tools {
namespace {

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
  const detail::base::ScaledNumbers scaled = detail::base::scaledNumbers(values);
  const bool isPower = scaled.exponent != 0 && *scaled.suffix == '\0';
  const std::string unit = isPower ? fmt::format("e{}", scaled.exponent) : scaled.suffix;
  std::vector<std::string> labels;
  labels.reserve(values.size());
  for (const double value : scaled.values) {
    // A negative zero from rounding, and a zero with a unit, are written as 0.
    labels.push_back(value == 0 ? "0" : fmt::format("{:.{}f}{}", value, scaled.decimals, unit));
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
  const double step = seconds.size() < 2 ? 0 : detail::base::leastStep(seconds);
  std::string format = step < 60 ? "%H:%M:%S" : "%H:%M";
  if (step > kDaySeconds - 7200) {  // days may be an hour short
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
