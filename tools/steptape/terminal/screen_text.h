// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

// Formats names from files for a terminal, which obeys control characters and shows some characters
// two columns wide.

/// Returns `text` in printable characters on one line: control characters, separators of lines and
/// paragraphs, and direction marks become escapes, such as "\\n", "\\x1b" or "\\u202e". Replaces
/// ill-formed UTF-8, and without UTF-8 every character that is not ASCII.
std::string printable(std::string_view text, bool hasUtf8);

/// Returns the columns that printable text takes: two for East Asian ideographs and emoji, none for
/// combining accents.
int columnsOf(std::string_view text);

/// Returns `count` spaces; none if `count` is negative.
std::string spaces(int count);

/// Returns `text`, shortened in the middle if it is wider than `columns`, because names differ at
/// their ends.
std::string fitted(const std::string& text, int columns, bool hasUtf8);

/// Returns `text`, shortened at its end if it is wider than `columns`.
std::string beginning(const std::string& text, int columns, bool hasUtf8);

/// Returns `text` as `terminal` can show it; see printable(). Text that does not go to a terminal
/// keeps its UTF-8. All names of runs, tags, files and hosts for people pass through this function,
/// or through one of this header that calls it; programs get the names unchanged.
std::string shown(const std::string& text, const Terminal& terminal);

/// Returns each line of a text as shown() does, with its end.
std::string shownLines(const std::string& text, const Terminal& terminal);

/// Like shown(), shortened in the middle if it is wider than `columns` of a terminal.
std::string cut(const std::string& text, int columns, const Terminal& terminal);

/// Returns facts separated by commas, in lines that fit the terminal after `indent` spaces if each
/// fact does.
std::string factLines(const std::vector<std::string>& facts, int indent, const Terminal& terminal);

}  // namespace steptape::tools
