// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptape::tools {

// Names from files on a terminal, which obeys some characters and shows others two columns wide.

/// `text` as characters that can be shown: control characters, and ill-formed UTF-8, are replaced;
/// where the terminal lacks UTF-8, all that is not ASCII.
std::string printable(std::string_view text, bool hasUtf8);

/// The columns that printable text takes: two for East Asian ideographs and pictures, none for
/// accents that combine.
int columnsOf(std::string_view text);

/// `text`, cut in its middle where it is wider than `columns`: the ends of names tell them apart.
std::string fitted(const std::string& text, int columns, bool hasUtf8);

/// `text`, cut at its end where it is wider than `columns`.
std::string beginning(const std::string& text, int columns, bool hasUtf8);

}  // namespace steptape::tools
