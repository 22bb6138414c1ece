// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "base/json_chars.h"
#include "base/little_endian.h"
#include "base/replacement_file.h"
#include "profile/trace/deflate/deflate_writer.h"

namespace steptape::detail::profile {

/// Text that occurs repeatedly in one TraceText. It consists of parts that other repeated texts may
/// share.
class STEPTAPE_EXPORT RepeatedText {
 public:
  RepeatedText() = default;
  explicit RepeatedText(std::string_view text) { add(text); }

  void add(std::string_view part);

  std::size_t size() const { return text_.size(); }

 private:
  friend class TraceText;
  struct Part {
    std::uint32_t size;
    std::uint32_t slot;  // index into TraceText::partEnds_
  };

  std::string text_;
  std::vector<Part> parts_;
  std::uint64_t end_ = 0;         // its last end; 0: it has not occurred yet
  std::uint64_t partsNoted_ = 0;  // its end when its parts were last noted
};

/// Numbers in one TraceText of which each is close to the previous one, such as times: usually
/// only the last digits differ.
class NumberSeries {
 private:
  friend class TraceText;
  std::int64_t high_ = -1;
  std::size_t size_ = 0;
  std::array<char, base::kMaxJsonNumber> digits_{};  // of high_
};

/// Writes text to a file, optionally gzipped.
///
/// Nearly all text of a trace is repeated, and the code that appends it knows that. Therefore
/// nothing is searched: repeated texts know where they ended last. If one is farther back than
/// deflate can refer to, its parts are looked up. Only numbers remain between repeated texts.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT TraceText {
 public:
  /// @param file Outlives this, and keeps the first failure.
  /// @param code Suits the text.
  TraceText(base::ReplacementFile* file, bool compress, const DeflateCode& code = kChromeTraceCode);

  void append(std::string_view text);

  void append(RepeatedText* repeated) {
    const std::size_t size = repeated->text_.size();
    if (size < kMinMatchLength || size > kMaxRepeatedBytes) {
      append(repeated->text_);
      return;
    }
    makeRoom(size);
    const std::uint64_t distance = position() - repeated->end_ + size;
    if (repeated->end_ == 0 || distance > kMaxMatchDistance) {
      appendParts(repeated);
    } else {
      repeat(size, static_cast<std::size_t>(distance));
      if (position() - repeated->partsNoted_ > kMaxMatchDistance / 2) {
        noteParts(repeated);
      }
    }
    repeated->end_ = position();
  }

  void appendInteger(std::int64_t value) {
    char* const digits = beginDigits();
    appendDigits(digits, base::writeJsonInteger(digits, value));
  }
  /// Appends a number like appendJsonNumber().
  void appendNumber(double value) {
    char* const digits = beginDigits();
    appendDigits(digits, base::writeJsonNumber(digits, value));
  }
  /// Appends nanoseconds as microseconds with three decimals.
  void appendMicros(std::int64_t nanos) {
    char* const digits = beginDigits();
    char* out = digits;
    if (nanos < 0) {
      *out++ = '-';
      nanos = -nanos;
    }
    out = base::writeJsonInteger(out, nanos / 1000);
    appendDigits(digits, writeDecimals(out, static_cast<std::uint32_t>(nanos % 1000)));
  }

  // Appends a number of a series, which is faster.
  void appendInteger(std::int64_t value, NumberSeries* series) {
    if (value < 100) {
      appendInteger(value);
      return;
    }
    appendHigh(value / 100, series);
    char* const digits = end();
    appendLiterals(digits, writeTwoDigits(digits, static_cast<std::uint32_t>(value % 100)));
  }
  void appendMicros(std::int64_t nanos, NumberSeries* series) {
    if (nanos < 100'000) {
      appendMicros(nanos);
      return;
    }
    appendHigh(nanos / 100'000, series);
    const auto low = static_cast<std::uint32_t>(nanos % 100'000);
    char* const digits = end();
    appendLiterals(digits, writeDecimals(writeTwoDigits(digits, low / 1000), low % 1000));
  }

  /// Writes the rest to the file, and ends the gzip stream. REQUIRES: no calls after it.
  void finish();

 private:
  friend class RepeatedText;
  static constexpr std::size_t kBufferBytes = 192 * 1024;
  static constexpr std::size_t kMaxRepeatedBytes = 16 * 1024;
  static constexpr std::size_t kMaxNumber = 2 * base::kMaxJsonNumber;
  static constexpr std::size_t kPartSlots = 4096;

  static char* writeTwoDigits(char* out, std::uint32_t value) {
    out[0] = static_cast<char>('0' + value / 10);
    out[1] = static_cast<char>('0' + value % 10);
    return out + 2;
  }
  static char* writeDecimals(char* out, std::uint32_t thousandths) {
    out[0] = '.';
    out[1] = static_cast<char>('0' + thousandths / 100);
    return writeTwoDigits(out + 2, thousandths % 100);
  }
  /// Returns how many of the first `size` bytes are equal. REQUIRES: 7 readable bytes after them.
  static std::size_t sameBytes(const char* a, const char* b, std::size_t size) {
    std::size_t same = 0;
    while (same < size) {
      const std::uint64_t difference =
          base::loadLittleEndian64(a + same) ^ base::loadLittleEndian64(b + same);
      if (difference != 0) {
        same += static_cast<std::size_t>(__builtin_ctzll(difference)) / 8;
        break;
      }
      same += sizeof difference;
    }
    return std::min(same, size);
  }

  /// Returns the number of appended bytes.
  std::uint64_t position() const { return start_ + size_; }
  char* end() { return buffer_.data() + size_; }

  void makeRoom(std::size_t bytes) {
    if (size_ + bytes > kBufferBytes) {
      passOn();
    }
  }

  /// Returns where to write the digits of a number before appendDigits().
  char* beginDigits() {
    makeRoom(kMaxNumber);
    return end();
  }
  /// If a repetition precedes them, similar digits are likely to follow it.
  void appendDigits(char* digits, char* digitsEnd) {
    if (matchLength_ != 0) {
      const std::size_t same =
          sameBytes(digits, digits - matchDistance_, static_cast<std::size_t>(digitsEnd - digits));
      matchLength_ += same;
      size_ += same;
      digits += same;
    }
    if (digits != digitsEnd) {
      appendLiterals(digits, digitsEnd);
    }
  }
  void appendHigh(std::int64_t high, NumberSeries* series) {
    if (high != series->high_) {
      series->high_ = high;
      char* const begin = series->digits_.data();
      series->size_ = static_cast<std::size_t>(base::writeJsonInteger(begin, high) - begin);
    }
    char* const digits = beginDigits();
    std::memcpy(digits, series->digits_.data(), series->digits_.size());
    appendDigits(digits, digits + series->size_);
  }
  /// REQUIRES: they are already at end().
  void appendLiterals(const char* literals, const char* literalsEnd) {
    const auto size = static_cast<std::size_t>(literalsEnd - literals);
    size_ += size;
    if (compress_) {
      flushMatch();
      deflate_.literals({literals, size});
    }
  }
  void repeat(std::size_t size, std::size_t distance) {
    std::memcpy(end(), end() - distance, size);
    size_ += size;
    if (compress_) {
      if (distance != matchDistance_) {
        flushMatch();
        matchDistance_ = distance;
      }
      matchLength_ += size;
    }
  }
  void flushMatch() {
    if (matchLength_ != 0) {
      deflate_.match(matchLength_, matchDistance_);
      matchLength_ = 0;
    }
  }

  void appendParts(RepeatedText* repeated);
  void noteParts(RepeatedText* repeated);
  void passOn();

  base::ReplacementFile* const file_;
  const bool compress_;
  std::vector<char> buffer_;  // bytes that can be repeated, then new bytes
  std::size_t size_ = 0;
  std::size_t passedOn_ = 0;  // bytes that are not new
  std::uint64_t start_ = 0;   // position of the buffer's first byte

  DeflateWriter deflate_;
  std::size_t matchLength_ = 0;  // of a match that may still grow; 0: there is none
  std::size_t matchDistance_ = 0;
  std::array<std::uint64_t, kPartSlots> partEnds_{};  // end of the last part with each hash
  std::uint32_t crc_ = 0;
};

}  // namespace steptape::detail::profile
