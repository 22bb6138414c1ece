// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::profile {

// Traces hold parts of files as JSON. What another format calls a text is checked before it is
// copied into a JSON file: one wrong value would make the whole file unreadable.

/// Returns whether `text` is one JSON value that every reader accepts: in UTF-8, with at most 900
/// levels, without halves of surrogate pairs, and without numbers of more than 100 digits or with
/// exponents of more than two, which may be beyond a double.
///
/// @threads Thread-safe.
/// @cost    That of the parser, which keeps one string or number at a time.
/// @source  RFC 8259
STEPTAPE_EXPORT bool isJson(std::string_view text);

/// Returns whether `text` is what the braces of a JSON object may enclose, such as `"a": 1`.
STEPTAPE_EXPORT bool areJsonMembers(std::string_view text);

/// Returns `text` if it is JSON, else a JSON string that holds it.
STEPTAPE_EXPORT std::string validJson(std::string_view text);

}  // namespace steptape::detail::profile
