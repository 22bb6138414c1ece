// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape {

// The parts of writing JSON that are easy to get wrong.

/// Appends `text` as a JSON string with its quotes.
///
/// Escapes quotes, backslashes and control characters, and replaces invalid UTF-8 by U+FFFD. The
/// appended bytes are always valid JSON and UTF-8.
///
/// @threads Thread-safe.
/// @source  RFC 8259, section 7
STEPTAPE_EXPORT void appendJsonString(std::string* out, std::string_view text);

/// Appends `value` with the fewest digits that read back as the same double, in any locale.
///
/// NaN and infinities, which JSON numbers cannot express, become the strings "NaN", "Infinity" and
/// "-Infinity", which `float()` in Python and `Number()` in JavaScript read.
///
/// @threads Thread-safe.
/// @source  RFC 8259, section 6
STEPTAPE_EXPORT void appendJsonNumber(std::string* out, double value);

/// Appends `value` in decimal, in any locale. Readers without integers, such as JavaScript's, round
/// magnitudes above 2^53.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void appendJsonInteger(std::string* out, std::int64_t value);

}  // namespace steptape
