// SPDX-License-Identifier: Apache-2.0
#include "profile/table_cells.h"

#include <algorithm>
#include <cmath>

namespace steptape::detail {
namespace {

std::string zeroPadded(std::int64_t value, std::size_t digits) {
  const std::string text = std::to_string(value);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
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

std::string codeSpan(std::string name) {
  std::replace(name.begin(), name.end(), '`', '\'');
  return "`" + name + "`";
}

}  // namespace steptape::detail
