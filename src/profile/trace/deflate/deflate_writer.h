// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/little_endian.h"
#include "profile/trace/deflate/deflate_code.h"

namespace steptape::detail::profile {

/// Puts a deflate stream together from literals and matches.
///
/// A compressor spends its time on the search for matches. Who makes the text may know them, and
/// then the rest is cheap. A prefix code that suits what lies between the matches of a format
/// serves all its streams, so that a stream is one block and is written as it comes.
///
/// @threads Not thread-safe: one thread at a time.
/// @source  RFC 1951
class DeflateWriter {
 public:
  /// Begins the stream.
  /// @param code Outlives this.
  explicit DeflateWriter(const DeflateCode& code);

  void literals(std::string_view text) {
    Cursor cursor = cursorWithRoom(2 * text.size());
    const auto& literals = code_.literals;
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    const auto* const end = bytes + text.size();
    for (; end - bytes >= 3; bytes += 3) {
      cursor.put(literals[bytes[0]]);
      cursor.put(literals[bytes[1]]);
      cursor.put(literals[bytes[2]]);
      cursor.store();
    }
    for (; bytes != end; ++bytes) {
      cursor.put(literals[*bytes]);
    }
    cursor.store();
    at_ = cursor;
  }

  /// Repeats `length` bytes, starting `distance` bytes before the current position. REQUIRES:
  /// length >= kMinMatchLength, and 0 < distance <= kMaxMatchDistance.
  void match(std::size_t length, std::size_t distance) {
    Cursor cursor = cursorWithRoom(8 * (length / kMaxMatchLength + 1));
    const BitCode back = code_.matchDistance(distance);
    for (; length > kMaxMatchLength; length -= nextPart(length)) {
      cursor.put(code_.matchLengths[nextPart(length)]);
      cursor.put(back);
      cursor.store();
    }
    cursor.put(code_.matchLengths[length]);
    cursor.put(back);
    cursor.store();
    at_ = cursor;
  }

  void finish();

  /// Returns the complete bytes of the stream since the last clear().
  std::string_view bytes() const {
    return {buffer_.data(), static_cast<std::size_t>(at_.out - buffer_.data())};
  }
  void clear() { at_.out = buffer_.data(); }

 private:
  /// The position of the next bits. A local copy: otherwise the compiler must assume that stores
  /// change the writer's members.
  struct Cursor {
    char* out = nullptr;
    std::uint64_t bits = 0;  // not yet a complete byte
    std::uint32_t count = 0;

    /// REQUIRES: at most 56 bits between two calls of store().
    void put(BitCode code) {
      bits |= std::uint64_t{code.bits} << count;
      count += code.count;
    }
    void store() {
      base::storeLittleEndian64(out, bits);
      out += count / 8;
      bits >>= count & ~7u;
      count %= 8;
    }
  };

  /// Returns how much of a long match to put into one symbol, so that the rest is not too short for
  /// a match.
  static std::size_t nextPart(std::size_t length) {
    return std::min(kMaxMatchLength, length - kMinMatchLength);
  }

  Cursor cursorWithRoom(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_.out) < bytes + sizeof(std::uint64_t)) {
      grow(bytes + sizeof(std::uint64_t));
    }
    return at_;
  }
  void grow(std::size_t bytes);

  const DeflateCode& code_;
  std::vector<char> buffer_;
  char* end_ = nullptr;  // of the buffer
  Cursor at_;
};

}  // namespace steptape::detail::profile
