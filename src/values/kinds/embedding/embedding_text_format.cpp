// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/embedding/embedding_text_format.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <utility>

#include "base/text.h"

namespace steptape::detail::values {
namespace {

bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
         c == '+';
}

bool isOctal(char c) {
  return c >= '0' && c <= '7';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  /// Reads fields up to `close`, or up to the end of the text if `close` is 0.
  bool readFields(char close, int depth, std::vector<TextField>* fields) {
    while (true) {
      skipBlanks();
      if (atEnd()) {
        return close == 0;
      }
      if (close != 0 && text_[at_] == close) {
        ++at_;
        return true;
      }
      TextField field;
      if (!readField(depth, &field)) {
        return false;
      }
      fields->push_back(std::move(field));
      skipBlanks();
      if (peek() == ',' || peek() == ';') {
        ++at_;
      }
    }
  }

 private:
  bool atEnd() const { return at_ == text_.size(); }
  char peek() const { return atEnd() ? '\0' : text_[at_]; }

  void skipBlanks() {
    while (!atEnd()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool readField(int depth, TextField* field) {
    field->begin = at_;
    field->name = readName();
    skipBlanks();
    if (field->name.empty()) {
      return false;
    }
    if (peek() == ':') {
      ++at_;
      skipBlanks();
    }
    const bool isRead = readValue(depth, field);
    field->end = at_;
    return isRead;
  }

  std::string_view readName() {
    const std::size_t begin = at_;
    while (!atEnd() && isNameCharacter(text_[at_])) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  bool readValue(int depth, TextField* field) {
    constexpr int kMaxDepth = 64;  // a hostile file must not overflow the stack
    if (depth > kMaxDepth) {
      return false;
    }
    switch (peek()) {
      case '{':
        ++at_;
        return readFields('}', depth + 1, &field->fields);
      case '<':
        ++at_;
        return readFields('>', depth + 1, &field->fields);
      case '[':
        ++at_;
        return readList(depth);
      case '"':
      case '\'':
        return readStrings(&field->text);
      default:
        return !readName().empty();
    }
  }

  /// Skips a list; its items are not needed.
  bool readList(int depth) {
    while (true) {
      skipBlanks();
      if (peek() == ']') {
        ++at_;
        return true;
      }
      TextField item;
      if (!readValue(depth + 1, &item)) {
        return false;
      }
      skipBlanks();
      if (peek() == ',') {
        ++at_;
      }
    }
  }

  /// Concatenates consecutive strings, which are one value.
  bool readStrings(std::string* text) {
    while (true) {
      if (!readString(text)) {
        return false;
      }
      const std::size_t end = at_;
      skipBlanks();
      if (peek() != '"' && peek() != '\'') {
        at_ = end;
        return true;
      }
    }
  }

  bool readString(std::string* text) {
    const char quote = text_[at_++];
    while (!atEnd() && text_[at_] != '\n') {
      const char c = text_[at_++];
      if (c == quote) {
        return true;
      }
      if (c != '\\') {
        text->push_back(c);
      } else if (!atEnd()) {
        text->push_back(readEscape());
      }
    }
    return false;
  }

  char readEscape() {
    const char c = text_[at_++];
    if (isOctal(c)) {
      --at_;
      int value = 0;
      for (int digits = 0; digits < 3 && isOctal(peek()); ++digits) {
        value = value * 8 + (text_[at_++] - '0');
      }
      return static_cast<char>(value);
    }
    if ((c == 'x' || c == 'X') && base::hexDigit(peek()) >= 0) {
      int value = 0;
      for (int digits = 0; digits < 2 && base::hexDigit(peek()) >= 0; ++digits) {
        value = value * 16 + base::hexDigit(text_[at_++]);
      }
      return static_cast<char>(value);
    }
    constexpr std::string_view kLetters = "abfnrtv";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v";
    const std::size_t i = kLetters.find(c);
    return i == std::string_view::npos ? c : kMeanings[i];
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<TextField>> readTextFormat(std::string_view text) {
  std::vector<TextField> fields;
  if (!Reader(text).readFields(0, 0, &fields)) {
    return std::nullopt;
  }
  return fields;
}

std::string quotedText(std::string_view bytes) {
  std::string quoted = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\%03o", byte);
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace steptape::detail::values
