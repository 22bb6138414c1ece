// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

// Names from files on a terminal, which obeys some characters and shows others two columns wide.

/// `text` as characters that can be shown, on one line: control characters, separators of lines and
/// paragraphs, and controls of the direction of text become escapes, as "\\n", "\\x1b" or
/// "\\u202e"; ill-formed UTF-8 is replaced, and where the terminal lacks UTF-8 all that is not
/// ASCII.
std::string printable(std::string_view text, bool hasUtf8);

/// The columns that printable text takes: two for East Asian ideographs and pictures, none for
/// accents that combine.
int columnsOf(std::string_view text);

/// As many blanks as `count`; none where that is negative.
std::string spaces(int count);

/// `text`, cut in its middle where it is wider than `columns`: the ends of names tell them apart.
std::string fitted(const std::string& text, int columns, bool hasUtf8);

/// `text`, cut at its end where it is wider than `columns`.
std::string beginning(const std::string& text, int columns, bool hasUtf8);

/// `text` as `terminal` can show it, see printable(); where nobody watches, it may lack UTF-8 and
/// keeps these characters. All names of runs, tags, files and hosts that people read pass through
/// it, or through a function of this header that calls it; programs get the true ones.
std::string shown(const std::string& text, const Terminal& terminal);

/// The same, its middle left out where that is wider than `columns` of a terminal.
std::string cut(const std::string& text, int columns, const Terminal& terminal);

/// Facts with commas between them, in lines that fit the terminal behind `indent` blanks as far as
/// each fact does.
std::string factLines(const std::vector<std::string>& facts, int indent, const Terminal& terminal);

}  // namespace steptape::tools
