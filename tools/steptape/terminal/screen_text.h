// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

// Names from files on a terminal, which obeys control characters and shows some characters two
// columns wide.

/// `text` in printable characters on one line: control characters, separators of lines and
/// paragraphs, and direction marks become escapes, such as "\\n", "\\x1b" or "\\u202e". Ill-formed
/// UTF-8 is replaced, and without UTF-8 every character that is not ASCII.
std::string printable(std::string_view text, bool hasUtf8);

/// The columns that printable text takes: two for East Asian ideographs and pictures, none for
/// accents that combine.
int columnsOf(std::string_view text);

/// `count` blanks; none if `count` is negative.
std::string spaces(int count);

/// `text`, shortened in the middle if it is wider than `columns`, because names differ at their
/// ends.
std::string fitted(const std::string& text, int columns, bool hasUtf8);

/// `text`, shortened at its end if it is wider than `columns`.
std::string beginning(const std::string& text, int columns, bool hasUtf8);

/// `text` as `terminal` can show it, see printable(); text that does not go to a terminal keeps its
/// UTF-8. All names of runs, tags, files and hosts that people read pass through this function, or
/// through one of this header that calls it; programs get the names unchanged.
std::string shown(const std::string& text, const Terminal& terminal);

/// As shown(), shortened in the middle if it is wider than `columns` of a terminal.
std::string cut(const std::string& text, int columns, const Terminal& terminal);

/// Facts with commas between them, in lines that fit the terminal after `indent` blanks if each
/// fact does.
std::string factLines(const std::vector<std::string>& facts, int indent, const Terminal& terminal);

}  // namespace steptape::tools
