// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/gzip_file.h"

namespace steptape::detail::profile {

/// The text of a JSON file, byte by byte, modified so that nlohmann-json parses it in bounded
/// memory: its lexer keeps everything that it has read since the last string or number began.
///
/// - White space: passes on only the first bytes of a long run.
/// - Strings of more than kMaxStringBytes: end there with "…".
/// - Numbers of more than kMaxNumberBytes, and more than kMaxDepth levels of nesting: an error.
/// - Arrays without strings and numbers: inserts a mark now and then; see takeMark().
/// - NaN, Infinity and -Infinity, which JSON does not have and Python's writer writes: become
///   strings.
///
/// Passes on all other text unchanged, well-formed or not: the parser checks it.
class BoundedJsonText {
 public:
  static constexpr std::size_t kMaxStringBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxNumberBytes = 1000;
  static constexpr std::size_t kMaxDepth = 1000;

  /// The text as a single-pass input range.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Iterator() = default;  ///< The end of any text.
    explicit Iterator(BoundedJsonText* text) : text_(text) {}

    reference operator*() const { return text_->current_; }
    Iterator& operator++() {
      text_->isRead_ = false;
      return *this;
    }
    // Reads a byte only when the parser asks for it, so that the parser's position is known.
    bool operator==(const Iterator& /*end*/) const { return !text_->isRead_ && !text_->readNext(); }
    bool operator!=(const Iterator& end) const { return !(*this == end); }

   private:
    BoundedJsonText* text_ = nullptr;
  };

  /// @throws as GzipFile, also while the text is read.
  explicit BoundedJsonText(const std::string& path);

  Iterator begin() { return Iterator(this); }
  static Iterator end() { return Iterator(); }

  /// Returns whether the last string was a mark: an array element that the file does not have. Each
  /// mark is reported once.
  bool takeMark() { return std::exchange(edits_.isMark, false); }

  /// Returns how many numbers that are not JSON were passed on as strings.
  std::uint64_t nonFinite() const { return edits_.nonFinite; }

  /// Returns whether the end of the file has been read.
  bool isAtEnd() const { return isAtEnd_; }

  /// Returns how many bytes of the file were omitted before the last passed byte; negative if more
  /// bytes were inserted.
  std::int64_t leftOut() const { return edits_.leftOut; }

 private:
  enum class Place : std::uint8_t { kOutside, kString, kEscape, kCodeUnit };

  /// Bytes of what is being read.
  struct Lengths {
    std::size_t blanks = 0;   // consecutive
    std::size_t between = 0;  // since the last string or number began
    std::size_t string = 0;
    std::size_t number = 0;
  };
  /// The character of a string that is being read, or was last.
  struct Character {
    std::uint32_t codeUnit = 0;  // of the escape "\uXXXX"
    int hexDigits = 0;           // number of its missing digits
    bool isHalfPair = false;     // the first of a surrogate pair
  };
  /// How the text differs from the file.
  struct Edits {
    const char* inserted = "";  // still to pass on
    bool isMark = false;
    std::int64_t leftOut = 0;
    std::uint64_t nonFinite = 0;
    std::array<char, 16> replacement{};  // text to insert that is not constant
  };

  bool readNext() { return next_ < plainEnd_ ? pass(*next_++) : readInspected(); }
  bool readByte(char* byte) {
    if (next_ == end_ && !refill()) {
      return false;
    }
    *byte = *next_++;
    return true;
  }
  bool pass(char byte) {
    current_ = byte;
    isRead_ = true;
    return true;
  }
  bool readInspected();
  bool refill();

  void enterBlank() {
    ++lengths_.between;
    ++lengths_.blanks;
    lengths_.number = 0;
  }
  void enterOutside(char byte);
  void enterArrayOrObject(bool isArray);
  void enterString(char byte);
  void enterEscape(char byte);
  void enterCodeUnit(char byte);

  [[gnu::noinline, gnu::cold]] bool passNonFinite(char byte);

  void findPlain();
  std::size_t runOf(std::uint8_t role, std::size_t most, std::size_t* count);
  bool mayEndBefore(char byte) const;
  bool skipBlanks(char* byte);
  bool skipString(char byte);
  void insert(const char* text, std::int64_t bytes);
  [[noreturn]] void fail(const std::string& problem) const;

  base::GzipFile file_;
  std::vector<char> buffer_;
  const char* next_ = nullptr;      // this and the following point into buffer_
  const char* plainEnd_ = nullptr;  // end of the bytes that change no state
  const char* end_ = nullptr;
  std::uint64_t offset_ = 0;  // offset of end_ in the text

  char current_ = 0;
  bool isRead_ = false;  // whether current_ is still to pass on
  Place place_ = Place::kOutside;
  Lengths lengths_;
  Character character_;
  std::vector<bool> areArrays_;  // open arrays (true) and objects
  Edits edits_;
  bool isAtEnd_ = false;
};

}  // namespace steptape::detail::profile
