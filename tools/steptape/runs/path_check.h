// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class Option;
}

namespace steptape::tools {

/// Makes the option accept existing directories and regular files. Files of any other kind are
/// rejected without opening them, because opening a FIFO would wait for its writer.
///
/// @param file The expected kind of file, such as "event file".
void expectPath(CLI::Option* option, const std::string& file);

/// Like expectPath(), but also accepts patterns of such paths (see path_pattern.h) and URLs of
/// buckets.
void expectPathOrPattern(CLI::Option* option, const std::string& file);

/// Like expectPath(), but also accepts URLs of buckets.
void expectPathOrUrl(CLI::Option* option, const std::string& file);

/// Like expectPath(), without directories.
void expectFile(CLI::Option* option, const std::string& file);

/// Like expectPath(), without files.
void expectDirectory(CLI::Option* option);

}  // namespace steptape::tools
