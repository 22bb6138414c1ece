// SPDX-License-Identifier: Apache-2.0
#include "trace/json_check.h"

#include <cstddef>

#include "base/json_text.h"
#include "base/text.h"
#include "base/utf8.h"

namespace steptape::detail {
namespace {

/// Fewer than readChromeTrace() reads: the value will be in other objects.
constexpr int kMaxLevels = 900;

/// Numbers of so many digits, with an exponent of two digits, are far from the limits of a double.
constexpr std::ptrdiff_t kMaxDigits = 100;

class JsonChecker {
 public:
  explicit JsonChecker(std::string_view text) : next_(text.data()), end_(next_ + text.size()) {}

  bool isValue() {
    skipBlanks();
    return value() && isAtEnd();
  }
  bool areMembers() { return members(/*closing=*/'\0') && isAtEnd(); }

 private:
  bool isAtEnd() {
    skipBlanks();
    return next_ == end_;
  }
  void skipBlanks() {
    while (next_ != end_ && (*next_ == ' ' || *next_ == '\n' || *next_ == '\t' || *next_ == '\r')) {
      ++next_;
    }
  }
  bool take(char c) {
    const bool isThere = next_ != end_ && *next_ == c;
    next_ += isThere ? 1 : 0;
    return isThere;
  }
  bool takeWord(std::string_view word) {
    const bool isThere = startsWith({next_, static_cast<std::size_t>(end_ - next_)}, word);
    next_ += isThere ? word.size() : 0;
    return isThere;
  }
  /// @return whether there was a digit.
  bool takeDigits() {
    const char* const begin = next_;
    while (next_ != end_ && *next_ >= '0' && *next_ <= '9') {
      ++next_;
    }
    return next_ != begin;
  }

  bool value() {
    if (next_ == end_) {
      return false;
    }
    switch (*next_) {
      case '"':
        return string();
      case '[':
        return elements();
      case '{':
        ++next_;
        return members('}');
      case 't':
        return takeWord("true");
      case 'f':
        return takeWord("false");
      case 'n':
        return takeWord("null");
      default:
        return number();
    }
  }

  bool elements() {
    ++next_;
    skipBlanks();
    if (take(']')) {
      return true;
    }
    if (++levels_ > kMaxLevels) {
      return false;
    }
    do {
      skipBlanks();
      if (!value()) {
        return false;
      }
      skipBlanks();
    } while (take(','));
    --levels_;
    return take(']');
  }

  /// @param closing 0: they end with the text.
  bool members(char closing) {
    skipBlanks();
    if (closing == '\0' ? next_ == end_ : take(closing)) {
      return true;
    }
    if (++levels_ > kMaxLevels) {
      return false;
    }
    do {
      skipBlanks();
      if (next_ == end_ || *next_ != '"' || !string()) {
        return false;
      }
      skipBlanks();
      if (!take(':')) {
        return false;
      }
      skipBlanks();
      if (!value()) {
        return false;
      }
      skipBlanks();
    } while (take(','));
    --levels_;
    return closing == '\0' || take(closing);
  }

  bool string() {
    ++next_;
    while (next_ != end_) {
      const char c = *next_++;
      if (c == '"') {
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20 || (c == '\\' && !escape())) {
        return false;
      }
    }
    return false;
  }

  bool escape() {
    if (next_ == end_) {
      return false;
    }
    const char c = *next_++;
    if (c != 'u') {
      return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    }
    const int unit = codeUnit();
    if ((unit & 0xfc00) == 0xd800) {
      return takeWord("\\u") && (codeUnit() & 0xfc00) == 0xdc00;
    }
    return unit >= 0 && (unit & 0xfc00) != 0xdc00;
  }

  /// @return -1 if the next four characters are not hexadecimal digits.
  int codeUnit() {
    int unit = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = next_ == end_ ? -1 : hexDigit(*next_++);
      if (digit < 0) {
        return -1;
      }
      unit = unit << 4 | digit;
    }
    return unit;
  }

  bool number() {
    const char* const begin = next_;
    take('-');
    if (!take('0') && !takeDigits()) {
      return false;
    }
    if (take('.') && !takeDigits()) {
      return false;
    }
    if (!take('e') && !take('E')) {
      return next_ - begin <= kMaxDigits;
    }
    if (!take('-')) {
      take('+');
    }
    const char* const exponent = next_;
    return takeDigits() && next_ - exponent <= 2 && exponent - begin <= kMaxDigits;
  }

  const char* next_;
  const char* const end_;
  int levels_ = 0;
};

}  // namespace

bool isJson(std::string_view text) {
  return JsonChecker(text).isValue() && isValidUtf8(text);
}

bool areJsonMembers(std::string_view text) {
  return JsonChecker(text).areMembers() && isValidUtf8(text);
}

std::string validJson(std::string_view text) {
  return isJson(text) ? std::string(text) : jsonString(text);
}

}  // namespace steptape::detail
