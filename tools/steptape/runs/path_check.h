// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class Option;
}

namespace steptape::tools {

/// Makes the option accept existing directories and regular files. Files of any other kind are
/// refused and never opened, because opening a FIFO would wait for its writer.
///
/// @param file The kind of file that is expected, such as "event file".
void expectPath(CLI::Option* option, const std::string& file);

/// As expectPath(), or patterns of such paths; see path_pattern.h.
void expectPathOrPattern(CLI::Option* option, const std::string& file);

/// As expectPath(), without directories.
void expectFile(CLI::Option* option, const std::string& file);

/// As expectPath(), without files.
void expectDirectory(CLI::Option* option);

}  // namespace steptape::tools
