// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/table_cells.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace steptape::detail::values {
namespace {

/// `value` / 10^decimals. Integer arithmetic does not depend on the locale.
std::string decimalText(std::int64_t value, std::size_t decimals) {
  std::string digits = std::to_string(std::abs(value));
  if (digits.size() <= decimals) {
    digits.insert(0, decimals + 1 - digits.size(), '0');
  }
  digits.insert(digits.size() - decimals, ".");
  return (value < 0 ? "-" : "") + digits;
}

constexpr std::size_t kCellWidth = 40;

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (text.size() - begin > kCellWidth) {
    std::size_t space = text.rfind(' ', begin + kCellWidth);
    if (space == std::string::npos || space <= begin) {
      space = text.find(' ', begin + kCellWidth);
    }
    if (space == std::string::npos) {
      break;
    }
    lines.push_back(text.substr(begin, space - begin));
    begin = space + 1;
  }
  lines.push_back(text.substr(begin));
  return lines;
}

std::string joined(const std::vector<std::string>& lines, const char* quote) {
  std::string text;
  for (const std::string& line : lines) {
    text += text.empty() ? "" : "<br>";
    text += quote + line + quote;
  }
  return text;
}

}  // namespace

std::string microsecondsText(std::int64_t nanos) {
  return decimalText(nanos, 3);
}

std::string millisecondsText(std::int64_t nanos) {
  return decimalText((nanos + (nanos < 0 ? -500 : 500)) / 1000, 3);
}

std::string megabytesText(std::int64_t bytes) {
  return decimalText(std::llround(static_cast<double>(bytes) / kBytesPerMegabyte * 100), 2);
}

std::string percentText(double part, double whole) {
  return decimalText(whole > 0 ? std::llround(part / whole * 1000) : 0, 1);
}

std::string brokenText(const std::string& text) {
  return joined(linesOf(text), "");
}

std::string codeSpan(std::string name) {
  std::replace(name.begin(), name.end(), '`', '\'');
  return joined(linesOf(name), "`");
}

}  // namespace steptape::detail::values
