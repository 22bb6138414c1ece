// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"

namespace steptape::detail {

inline constexpr double kBytesPerMegabyte = 1e6;

inline double milliseconds(std::int64_t nanos) {
  return static_cast<double>(nanos) / 1e6;
}

// Cells of tables. No locale changes the point.

/// `nanos` in units of 1000 ns or 1000000 ns, rounded to three decimals.
std::string microsecondsText(std::int64_t nanos);
STEPTAPE_EXPORT std::string millisecondsText(std::int64_t nanos);

/// Megabytes with two decimals, such as "12.04".
STEPTAPE_EXPORT std::string megabytesText(std::int64_t bytes);

/// With one decimal; 0 of nothing. REQUIRES: neither is negative.
STEPTAPE_EXPORT std::string percentText(double part, double whole);
inline std::string percentText(std::int64_t part, std::int64_t whole) {
  return percentText(static_cast<double>(part), static_cast<double>(whole));
}

/// Broken at spaces into lines of up to 40 characters, since TensorBoard takes the room that a wide
/// column needs from the others, and breaks their numbers.
std::string brokenText(const std::string& text);

/// Code spans, in which the underscores of "aten::add_" are not Markdown, broken in the same way.
std::string codeSpan(std::string name);

}  // namespace steptape::detail
