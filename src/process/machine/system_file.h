// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::process {

/// Reads a file of /proc or /sys, whose size is not known before.
/// @param text Set to the content; empty after an error.
/// @return errno of the failed call; 0 for success.
int readSystemFile(const std::string& path, std::string* text);

/// Returns the content of the file; empty if it cannot be read.
STEPTAPE_EXPORT std::string systemFile(const std::string& path);

}  // namespace steptape::detail::process
