// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail {

/// Reads a file of /proc or /sys, whose size is not known before.
/// @param text Set to the content; empty after an error.
/// @return errno of the failed call; 0 for success.
int readSystemFile(const std::string& path, std::string* text);

/// Returns the content of the file; empty if it cannot be read.
STEPTAPE_EXPORT std::string systemFile(const std::string& path);

/// Removes the number at the start of `text`, after blanks, and returns it.
std::optional<std::uint64_t> takeNumber(std::string_view* text);

/// Returns the number that follows `key` at the start of a line: 7 for "read_bytes:" in
/// "write_bytes: 3\nread_bytes: 7\n".
STEPTAPE_EXPORT std::optional<std::uint64_t> numberAfter(std::string_view text,
                                                         std::string_view key);

}  // namespace steptape::detail
