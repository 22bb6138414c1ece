// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::base {

// Writes JSON into a buffer, for texts so long that each call of std::string is noticeable. Every
// function returns the end of what it wrote.

/// Maximum length of a number, such as "-2.2250738585072014e-308".
inline constexpr std::size_t kMaxJsonNumber = 24;

/// Writes what appendJsonNumber() appends. REQUIRES: room for kMaxJsonNumber characters.
STEPTAPE_EXPORT char* writeJsonNumber(char* out, double value);

/// Writes a double that no reader takes for an integer, with ".0" after a whole number; else as
/// appendJsonNumber(). Readers that guess the type of a column from its beginning fail at 0.5 after
/// integers, or round it. REQUIRES: room for kMaxJsonNumber characters.
STEPTAPE_EXPORT char* writeJsonReal(char* out, double value);

/// Writes what appendJsonInteger() appends. REQUIRES: room for kMaxJsonNumber characters.
inline char* writeJsonInteger(char* out, std::int64_t value) {
  return std::to_chars(out, out + kMaxJsonNumber, value).ptr;
}

/// Copies `text`. REQUIRES: room for `text`.
inline char* writeText(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

}  // namespace steptape::detail::base
