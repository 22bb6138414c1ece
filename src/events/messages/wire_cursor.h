// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/little_endian.h"

namespace steptape::detail::events {

/// Reads values in the Protocol Buffers wire format from the front of a byte range. A call returns
/// false if there are too few bytes or there is no such value; the cursor is then unspecified.
///
/// @source https://protobuf.dev/programming-guides/encoding/
class WireCursor {
 public:
  WireCursor() = default;
  explicit WireCursor(std::string_view bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool isAtEnd() const { return next_ == end_; }

  /// Skips the key of a field with a number below 16, if it is next.
  bool key(unsigned char key) {
    if (next_ == end_ || static_cast<unsigned char>(*next_) != key) {
      return false;
    }
    ++next_;
    return true;
  }

  /// Skips `form` and the float after it, if both are next.
  bool skipFloat32(std::string_view form) {
    const std::size_t bytes = form.size() + sizeof(float);
    if (remaining() < bytes || !isEqual(next_, form.data(), form.size())) {
      return false;
    }
    next_ += bytes;
    return true;
  }

  /// Reads the float after `form`. REQUIRES: skipFloat32() would succeed.
  float takeFloat32(std::string_view form) {
    next_ += form.size();
    return takeFloat32();
  }

  /// Returns the start of the next value.
  const char* position() const { return next_; }

  // Inline wherever they are called: reading a million scalars takes 5 % longer otherwise, and
  // compilers decide by how many other callers the unit has.
  [[gnu::always_inline]] bool varint(std::uint64_t* value) {
    // Lengths and most enumerators take one byte.
    if (next_ != end_ && static_cast<unsigned char>(*next_) < 0x80) {
      *value = static_cast<unsigned char>(*next_++);
      return true;
    }
    // A static function, so that the cursor can stay in registers.
    const char* const behind = longVarint(next_, end_, value);
    if (behind == nullptr) {
      return false;
    }
    next_ = behind;
    return true;
  }

  [[gnu::always_inline]] bool bytes(std::string_view* value) {
    const char* const begin = next_;
    std::uint64_t size;
    if (!varint(&size) || next_ - begin > 5 || size > remaining()) {
      return false;
    }
    *value = {next_, static_cast<std::size_t>(size)};
    next_ += size;
    return true;
  }

  bool float32(float* value) {
    if (remaining() < sizeof *value) {
      return false;
    }
    *value = takeFloat32();
    return true;
  }

  bool float64(double* value) {
    if (remaining() < sizeof *value) {
      return false;
    }
    const std::uint64_t bits = base::loadLittleEndian64(next_);
    std::memcpy(value, &bits, sizeof bits);
    next_ += sizeof *value;
    return true;
  }

 private:
  /// Same as memcmp() == 0; for so few bytes, the call would cost more than the comparison.
  static bool isEqual(const char* a, const char* b, std::size_t size) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    if (size < kWord) {
      return std::memcmp(a, b, size) == 0;
    }
    for (std::size_t i = 0; i + kWord < size; i += kWord) {
      if (base::loadLittleEndian64(a + i) != base::loadLittleEndian64(b + i)) {
        return false;
      }
    }
    // The last word may overlap the previous one.
    return base::loadLittleEndian64(a + size - kWord) == base::loadLittleEndian64(b + size - kWord);
  }

  /// @return the end of the value, or null.
  static const char* longVarint(const char* next, const char* end, std::uint64_t* value) {
    // Steps take two to four bytes and are followed by other fields.
    if (end - next >= 4) {
      const std::uint32_t bytes = base::loadLittleEndian32(next);
      const std::uint32_t low = (bytes & 0x7f) | (bytes & 0x7f00) >> 1;
      if ((bytes & 0x8000) == 0) {
        *value = low;
        return next + 2;
      }
      if ((bytes & 0x800000) == 0) {
        *value = low | (bytes & 0x7f0000) >> 2;
        return next + 3;
      }
      if ((bytes & 0x80000000) == 0) {
        *value = low | (bytes & 0x7f0000) >> 2 | (bytes & 0x7f000000) >> 3;
        return next + 4;
      }
    }
    return varintByBytes(next, end, value);
  }

  static const char* varintByBytes(const char* next, const char* end, std::uint64_t* value) {
    std::uint64_t sum = 0;
    for (unsigned shift = 0; shift < 64 && next != end; shift += 7) {
      const auto byte = static_cast<unsigned char>(*next++);
      sum |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) {
        *value = sum;
        return next;
      }
    }
    return nullptr;
  }

  /// REQUIRES: four bytes are left.
  float takeFloat32() {
    float value;
    const std::uint32_t bits = base::loadLittleEndian32(next_);
    std::memcpy(&value, &bits, sizeof bits);
    next_ += sizeof bits;
    return value;
  }

  std::size_t remaining() const { return static_cast<std::size_t>(end_ - next_); }

  const char* next_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace steptape::detail::events
