// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// Returns whether `text` is well-formed UTF-8: no stray or missing continuation bytes, no overlong
/// forms, no surrogates, nothing beyond U+10FFFF.
///
/// Protocol Buffers discards a whole message because of one ill-formed string. Tags are therefore
/// checked before they are written.
///
/// @threads Thread-safe.
/// @cost    One pass; no allocation.
/// @source  The Unicode Standard 15.0, table 3-7
STEPTAPE_EXPORT bool isValidUtf8(std::string_view text);

/// Returns `text` with U+FFFD in place of each maximal part of an ill-formed sequence, as browsers
/// and Python's `errors="replace"` do. Well-formed text is returned unchanged.
///
/// @threads Thread-safe.
/// @source  The Unicode Standard 15.0, section 3.9, "U+FFFD Substitution of Maximal Subparts"
STEPTAPE_EXPORT std::string replaceInvalidUtf8(std::string_view text);

/// Returns whether `byte` is a continuation byte of a multi-byte character.
inline bool isUtf8Continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80;
}

}  // namespace steptape::detail::base
