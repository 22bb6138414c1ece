// SPDX-License-Identifier: Apache-2.0
#include "base/csv_text.h"

#include <array>
#include <cmath>

#include "base/json_chars.h"

namespace steptape::detail::base {

std::string csvField(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) {
    return field;
  }
  std::string quoted = "\"";
  for (const char c : field) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted + '"';
}

char* writeCsvNumber(char* out, double value) {
  if (std::isnan(value)) {
    return writeText(out, "NaN");
  }
  if (std::isinf(value)) {
    return writeText(out, value > 0 ? "inf" : "-inf");
  }
  return writeJsonReal(out, value);
}

std::string csvNumber(double value) {
  constexpr std::size_t kMostCharacters = 32;
  std::array<char, kMostCharacters> text;
  return {text.data(), writeCsvNumber(text.data(), value)};
}

}  // namespace steptape::detail::base
