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

// Cells of tables, with a decimal point in every locale.

/// Formats `nanos` as microseconds or milliseconds, rounded to three decimals.
std::string microsecondsText(std::int64_t nanos);
STEPTAPE_EXPORT std::string millisecondsText(std::int64_t nanos);

/// Formats megabytes with two decimals, such as "12.04".
STEPTAPE_EXPORT std::string megabytesText(std::int64_t bytes);

/// Formats a percentage with one decimal; 0 if `whole` is 0. REQUIRES: neither is negative.
STEPTAPE_EXPORT std::string percentText(double part, double whole);
inline std::string percentText(std::int64_t part, std::int64_t whole) {
  return percentText(static_cast<double>(part), static_cast<double>(whole));
}

/// Breaks a text at spaces into lines of up to 40 characters. TensorBoard takes the space for a
/// wide column from the other columns, and wraps their numbers.
std::string brokenText(const std::string& text);

/// Returns code spans, in which the underscores of "aten::add_" are not Markdown, with the same
/// line breaks.
std::string codeSpan(std::string name);

}  // namespace steptape::detail
