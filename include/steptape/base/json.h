// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape {

// The parts of writing JSON that are easy to get wrong. Everything else of it is punctuation.

/// Appends `text` as a JSON string with its quotes.
///
/// Quotes, backslashes and control characters are escaped, ill-formed UTF-8 is replaced by U+FFFD,
/// and everything else stays as it is: what is appended is always valid JSON and UTF-8.
///
/// @threads Thread-safe.
/// @source  RFC 8259, section 7
STEPTAPE_EXPORT void appendJsonString(std::string* out, std::string_view text);

/// Appends `value` with the fewest digits that give the same double when read back, whatever the
/// locale.
///
/// JSON has no numbers for them, so NaN and the infinities become the strings "NaN", "Infinity" and
/// "-Infinity": a value is never lost, and `float()` in Python and `Number()` in JavaScript read
/// them.
///
/// @threads Thread-safe.
/// @source  RFC 8259, section 6
STEPTAPE_EXPORT void appendJsonNumber(std::string* out, double value);

/// Appends `value` in decimal, whatever the locale. Readers that know no integers, JavaScript's
/// among them, round what is beyond 2^53.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void appendJsonInteger(std::string* out, std::int64_t value);

}  // namespace steptape
