// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/terminal/screen_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <sstream>
#include <vector>

#include "base/utf8.h"
#include "tools/steptape/terminal/character_columns.h"

namespace steptape::tools {
namespace {

struct Character {
  char32_t code;
  std::string_view bytes;
};

/// REQUIRES: well-formed UTF-8.
std::vector<Character> charactersOf(std::string_view text) {
  std::vector<Character> characters;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto first = static_cast<unsigned char>(text[begin]);
    const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    char32_t code = size == 1 ? first : first & (0xffU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
      code = code << 6 | (static_cast<unsigned char>(text[begin + i]) & 0x3fU);
    }
    characters.push_back({code, text.substr(begin, size)});
    begin += size;
  }
  return characters;
}

/// Returns whether it is one of C0, DEL and C1, line separators, and direction marks.
bool isControl(char32_t code) {
  struct ControlRange {
    char32_t first;
    char32_t last;
  };
  constexpr std::array<ControlRange, 6> kControls{{{0, 0x1f},
                                                   {0x7f, 0x9f},
                                                   {0x61c, 0x61c},
                                                   {0x200e, 0x200f},
                                                   {0x2028, 0x202e},
                                                   {0x2066, 0x2069}}};
  return std::any_of(kControls.begin(), kControls.end(), [code](const ControlRange& range) {
    return code >= range.first && code <= range.last;
  });
}

/// Returns an escape as in a C++ string: "\n", "\x1b", "\u202e".
std::string escaped(char32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code < 0x80 ? fmt::format("\\x{:02x}", static_cast<std::uint32_t>(code))
                         : fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
  }
}

}  // namespace

std::string printable(std::string_view text, bool hasUtf8) {
  const std::string valid = detail::base::replaceInvalidUtf8(text);
  std::string shown;
  for (const Character& character : charactersOf(valid)) {
    if (isControl(character.code)) {
      shown += escaped(character.code);
    } else if (!hasUtf8 && character.code > 0x7e) {
      shown += '?';
    } else {
      shown += character.bytes;
    }
  }
  return shown;
}

int columnsOf(std::string_view text) {
  int columns = 0;
  for (const Character& character : charactersOf(text)) {
    columns += columnsOf(character.code);
  }
  return columns;
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

std::string fitted(const std::string& text, int columns, bool hasUtf8) {
  if (columnsOf(text) <= columns) {
    return text;
  }
  const std::string ellipsis = hasUtf8 ? "\u2026" : "..";
  const int room = std::max(0, columns - columnsOf(ellipsis));
  const std::vector<Character> characters = charactersOf(text);
  std::string head;
  for (auto it = characters.begin(); columnsOf(head) + columnsOf(it->code) <= room / 2; ++it) {
    head += it->bytes;
  }
  std::string tail;
  for (auto it = characters.rbegin();
       columnsOf(tail) + columnsOf(it->code) <= room - columnsOf(head); ++it) {
    tail.insert(0, it->bytes);
  }
  return head + ellipsis + tail;
}

std::string beginning(const std::string& text, int columns, bool hasUtf8) {
  if (columnsOf(text) <= columns) {
    return text;
  }
  const std::string ellipsis = hasUtf8 ? "\u2026" : "..";
  const int room = std::max(0, columns - columnsOf(ellipsis));
  std::string head;
  for (const Character& character : charactersOf(text)) {
    if (columnsOf(head) + columnsOf(character.code) > room) {
      break;
    }
    head += character.bytes;
  }
  return head + ellipsis;
}

std::string shown(const std::string& text, const Terminal& terminal) {
  return printable(text, terminal.hasUtf8 || !terminal.isTerminal);
}

std::string shownLines(const std::string& text, const Terminal& terminal) {
  std::istringstream lines(text);
  std::string all;
  std::string line;
  while (std::getline(lines, line)) {
    all += shown(line, terminal) + '\n';
  }
  return all;
}

std::string cut(const std::string& text, int columns, const Terminal& terminal) {
  return terminal.isTerminal ? fitted(shown(text, terminal), columns, terminal.hasUtf8)
                             : shown(text, terminal);
}

std::string factLines(const std::vector<std::string>& facts, int indent, const Terminal& terminal) {
  std::string text = spaces(indent);
  int used = indent;
  for (const std::string& fact : facts) {
    const std::string_view separator = used == indent ? "" : ", ";
    // Includes the comma after it.
    const bool fits = !terminal.isTerminal || used == indent ||
                      used + columnsOf(separator) + columnsOf(fact) < terminal.columns;
    if (fits) {
      text += separator;
      used += columnsOf(separator);
    } else {
      text += ",\n" + spaces(indent);
      used = indent;
    }
    text += fact;
    used += columnsOf(fact);
  }
  return text + '\n';
}

}  // namespace steptape::tools
