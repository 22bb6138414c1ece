// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::values {

inline constexpr double kBytesPerMegabyte = 1e6;

inline double milliseconds(std::int64_t nanos) {
  return static_cast<double>(nanos) / 1e6;
}

// Text for the cells of tables. The decimal separator is a point in every locale.

/// Microseconds or milliseconds with three decimals.
STEPTAPE_EXPORT std::string microsecondsText(std::int64_t nanos);
STEPTAPE_EXPORT std::string millisecondsText(std::int64_t nanos);

/// Formats megabytes with two decimals, such as "12.04".
STEPTAPE_EXPORT std::string megabytesText(std::int64_t bytes);

/// `part` in percent of `whole`, with one decimal; "0.0" if `whole` is 0. REQUIRES: neither is
/// negative.
STEPTAPE_EXPORT std::string percentText(double part, double whole);
inline std::string percentText(std::int64_t part, std::int64_t whole) {
  return percentText(static_cast<double>(part), static_cast<double>(whole));
}

/// Breaks text at spaces into lines of up to 40 characters. TensorBoard would otherwise narrow the
/// other columns until their numbers break.
STEPTAPE_EXPORT std::string brokenText(const std::string& text);

/// A Markdown code span for each line of brokenText(), so that the underscores of "aten::add_" stay
/// as they are.
STEPTAPE_EXPORT std::string codeSpan(std::string name);

}  // namespace steptape::detail::values
