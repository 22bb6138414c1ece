// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace steptape::detail::base {

// Functions to classify text and to compose messages.

inline bool startsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Returns `text` without spaces, tabs and ends of lines at its start and end.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

/// Returns the value of a hexadecimal digit in either case, or -1 for any other character.
constexpr int hexDigit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/// Returns a count with its noun: "1 file", "2 files".
inline std::string counted(std::uint64_t count, const char* noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

/// Returns a list such as "2, 3, 4" for a range of integers.
template <typename Integers>
std::string commaSeparated(const Integers& integers) {
  std::string text;
  for (const auto integer : integers) {
    text += (text.empty() ? "" : ", ") + std::to_string(integer);
  }
  return text;
}

}  // namespace steptape::detail::base
