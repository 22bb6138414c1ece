// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail {

// JSON put together in place, for text of which there is so much that each call of std::string
// counts. All return where to go on.

/// The most characters of a number. "-2.2250738585072014e-308" is as long as it gets.
inline constexpr std::size_t kMaxJsonNumber = 24;

/// As appendJsonNumber(). REQUIRES: room for kMaxJsonNumber.
STEPTAPE_EXPORT char* writeJsonNumber(char* out, double value);

/// As appendJsonInteger(). REQUIRES: room for kMaxJsonNumber.
inline char* writeJsonInteger(char* out, std::int64_t value) {
  return std::to_chars(out, out + kMaxJsonNumber, value).ptr;
}

/// REQUIRES: room for `text`.
inline char* writeText(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

}  // namespace steptape::detail
