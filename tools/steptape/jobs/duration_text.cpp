// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/duration_text.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace steptape::tools {

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

}  // namespace steptape::tools
