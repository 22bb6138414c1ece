// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/duration_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace steptape::tools {
namespace {

/// Returns the seconds of "3:25" or "1:02:03".
std::optional<double> clockSeconds(const std::string& text) {
  double seconds = 0;
  std::size_t fields = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++fields) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const std::string field = text.substr(begin, end - begin);
    constexpr std::size_t kMostDigits = 9;
    const bool isNumber = !field.empty() && field.size() <= kMostDigits &&
                          field.find_first_not_of("0123456789") == std::string::npos;
    if (!isNumber || (fields > 0 && (field.size() != 2 || field >= "60"))) {
      return std::nullopt;
    }
    seconds = seconds * 60 + std::stod(field);
    begin = end + 1;
  }
  return fields == 2 || fields == 3 ? std::optional<double>(seconds) : std::nullopt;
}

}  // namespace

std::optional<double> secondsOf(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"", 1}, {"ms", 0.001}, {"s", 1}, {"min", 60}, {"h", 3600}}};
  const std::size_t end = text.find_last_of("0123456789.") + 1;
  double number = 0;
  if (!CLI::detail::lexical_cast(text.substr(0, end), number) || !std::isfinite(number) ||
      std::signbit(number)) {
    return std::nullopt;
  }
  for (const auto& [unit, seconds] : kUnits) {
    if (text.substr(end) == unit) {
      return number * seconds;
    }
  }
  return std::nullopt;
}

std::optional<double> shownSecondsOf(const std::string& text) {
  std::string rest = text;
  rest.erase(std::remove(rest.begin(), rest.end(), ' '), rest.end());
  double seconds = 0;
  while (!rest.empty()) {
    if (const std::optional<double> clock = clockSeconds(rest)) {
      return seconds + *clock;
    }
    const std::size_t unit = rest.find_first_not_of("0123456789.");
    const std::size_t end = std::min(rest.find_first_of("0123456789.", unit), rest.size());
    const std::string name = unit == std::string::npos ? "" : rest.substr(unit, end - unit);
    const double factor = name == "d" ? 24 * 60 * 60 : name == "m" ? 60 : 1;
    const std::optional<double> part = secondsOf(rest.substr(0, factor > 1 ? unit : end));
    if (!part) {
      return std::nullopt;
    }
    seconds += factor * *part;
    rest.erase(0, end);
  }
  return text.empty() ? std::nullopt : std::optional<double>(seconds);
}

}  // namespace steptape::tools
