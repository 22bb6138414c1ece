// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// Splits `text` at each character of `separators`; no word is empty.
std::vector<std::string> wordsOf(const std::string& text, const char* separators = " \t\r\n");

}  // namespace steptape::tools
