// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape {

/// Whether `text` is well-formed UTF-8: no stray or missing continuation bytes, no overlong forms,
/// no surrogates, nothing beyond U+10FFFF.
///
/// Protocol Buffers drop a whole message over one ill-formed string, so this is asked before a tag
/// reaches a file.
///
/// @threads Thread-safe.
/// @cost    One pass; no allocation.
/// @source  The Unicode Standard 15.0, table 3-7
STEPTAPE_EXPORT bool isValidUtf8(std::string_view text);

/// `text` with U+FFFD for each maximal part of an ill-formed sequence: as many as browsers and
/// Python's `errors="replace"` put there. Well-formed text comes back unchanged.
///
/// @threads Thread-safe.
/// @source  The Unicode Standard 15.0, section 3.9, "U+FFFD Substitution of Maximal Subparts"
STEPTAPE_EXPORT std::string replaceInvalidUtf8(std::string_view text);

namespace detail {

/// Whether `byte` is one of a character of several bytes, and not its first.
inline bool isUtf8Continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80;
}

}  // namespace detail
}  // namespace steptape
