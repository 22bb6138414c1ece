// SPDX-License-Identifier: Apache-2.0
#include "profile/table_cells.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace steptape::detail {
namespace {

std::string zeroPadded(std::int64_t value, std::size_t digits) {
  const std::string text = std::to_string(value);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
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
  return std::to_string(nanos / 1000) + "." + zeroPadded(nanos % 1000, 3);
}

std::string millisecondsText(std::int64_t nanos) {
  return microsecondsText((nanos + 500) / 1000);
}

std::string percentText(std::int64_t part, std::int64_t whole) {
  const double share = whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  const std::int64_t permille = std::llround(share * 1000.0);
  return std::to_string(permille / 10) + "." + std::to_string(permille % 10);
}

std::string brokenText(const std::string& text) {
  return joined(linesOf(text), "");
}

std::string codeSpan(std::string name) {
  std::replace(name.begin(), name.end(), '`', '\'');
  return joined(linesOf(name), "`");
}

}  // namespace steptape::detail
