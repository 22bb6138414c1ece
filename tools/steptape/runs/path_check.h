// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class Option;
}

namespace steptape::tools {

/// Lets the option take paths that are there and can be read from any place: directories and
/// regular files. Files of any other kind are refused by their kind, and never opened: to open a
/// FIFO would wait for its writer.
///
/// @param file What a file should be, such as "event file".
void expectPath(CLI::Option* option, const std::string& file);

/// As expectPath(), or patterns of such paths; see path_pattern.h.
void expectPathOrPattern(CLI::Option* option, const std::string& file);

/// The same as expectPath() without directories.
void expectFile(CLI::Option* option, const std::string& file);

/// The same without files.
void expectDirectory(CLI::Option* option);

}  // namespace steptape::tools
