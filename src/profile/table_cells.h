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

/// Broken at spaces into lines of up to 40 characters, since TensorBoard takes the room that a wide
/// column needs from the others, and breaks their numbers.
std::string brokenText(const std::string& text);

/// Code spans, in which the underscores of "aten::add_" are not Markdown, broken in the same way.
std::string codeSpan(std::string name);

}  // namespace steptape::detail
