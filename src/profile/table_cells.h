// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace steptape::detail {

// Cells of tables. No locale changes the point.

/// `nanos` in units of 1000 ns or 1000000 ns, with three decimals.
std::string microsecondsText(std::int64_t nanos);
std::string millisecondsText(std::int64_t nanos);

/// With one decimal; 0 of nothing.
std::string percentText(std::int64_t part, std::int64_t whole);

/// A code span, in which the underscores of "aten::add_" are not Markdown.
std::string codeSpan(std::string name);

}  // namespace steptape::detail
