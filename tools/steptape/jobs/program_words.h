// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

// The words after "--", which are a program with its arguments. CLI11 would take apart those such
// as "[1,2]", so they are marked before it parses them.

/// Marks the words after the first "--" of the command "run". Of other commands, they are arguments
/// that may begin with a dash.
std::vector<std::string> withMarkedProgram(std::vector<std::string> arguments);

/// Returns the words without marks; nothing if a word has none, so that it was not after "--".
std::vector<std::string> unmarkedProgram(std::vector<std::string> words);

}  // namespace steptape::tools
