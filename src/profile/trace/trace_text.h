// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"

#include "base/deflater.h"
#include "base/json_chars.h"
#include "base/replacement_file.h"

namespace steptape::detail::profile {

/// Writes text to a file, optionally gzipped.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT TraceText {
 public:
  /// @param file Outlives this, and keeps the first failure.
  /// @throws std::bad_alloc.
  TraceText(base::ReplacementFile* file, bool compress);

  void append(std::string_view text) {
    for (std::size_t room; (room = buffer_.size() - used_) < text.size();) {
      take(text.substr(0, room));
      text.remove_prefix(room);
      passOn();
    }
    take(text);
  }
  void appendInteger(std::int64_t value) {
    char digits[base::kMaxJsonNumber];
    append(digits, base::writeJsonInteger(digits, value));
  }
  /// Appends a number like appendJsonNumber().
  void appendNumber(double value) {
    char digits[base::kMaxJsonNumber];
    append(digits, base::writeJsonNumber(digits, value));
  }
  /// Appends nanoseconds as microseconds with three decimals.
  void appendMicros(std::int64_t nanos) {
    char digits[base::kMaxJsonNumber + 5];
    char* out = digits;
    if (nanos < 0) {
      *out++ = '-';
      nanos = -nanos;
    }
    out = base::writeJsonInteger(out, nanos / 1000);
    const auto thousandths = static_cast<int>(nanos % 1000);
    *out++ = '.';
    *out++ = static_cast<char>('0' + thousandths / 100);
    *out++ = static_cast<char>('0' + thousandths / 10 % 10);
    *out++ = static_cast<char>('0' + thousandths % 10);
    append(digits, out);
  }

  /// Writes the rest to the file, and ends the gzip stream. REQUIRES: no calls after it.
  void finish();

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{128} * 1024;

  void append(const char* begin, const char* end) {
    append({begin, static_cast<std::size_t>(end - begin)});
  }
  void take(std::string_view text) {
    base::writeText(buffer_.data() + used_, text);
    used_ += text.size();
  }
  void passOn();

  base::ReplacementFile* const file_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;  // of buffer_
  std::string compressed_;
  std::optional<base::Deflater> deflater_;  // appends to compressed_; none: not gzipped
};

}  // namespace steptape::detail::profile
