// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptape {

/// Converts pairs of hexadecimal digits to bytes; ignores spaces.
inline std::string unhex(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') {
      digits += c;
    }
  }
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace steptape
