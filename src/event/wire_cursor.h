// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/little_endian.h"

namespace steptape::detail {

/// Takes values in the Protocol Buffers wire format off the front of bytes. A call that finds too
/// few bytes, or no such value, returns false; what it leaves is then unspecified.
///
/// @source https://protobuf.dev/programming-guides/encoding/
class WireCursor {
 public:
  WireCursor() = default;
  explicit WireCursor(std::string_view bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool isAtEnd() const { return next_ == end_; }

  /// The key of a field with a number below 16. REQUIRES: not at the end.
  unsigned char key() { return static_cast<unsigned char>(*next_++); }

  bool varint(std::uint64_t* value) {
    std::uint64_t sum = 0;
    for (unsigned shift = 0; shift < 64 && next_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*next_++);
      sum |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) {
        *value = sum;
        return true;
      }
    }
    return false;
  }

  bool bytes(std::string_view* value) {
    std::uint64_t size;
    if (!varint(&size) || size > remaining()) {
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
    const std::uint32_t bits = loadLittleEndian32(next_);
    std::memcpy(value, &bits, sizeof bits);
    next_ += sizeof *value;
    return true;
  }

  bool float64(double* value) {
    if (remaining() < sizeof *value) {
      return false;
    }
    const std::uint64_t bits = loadLittleEndian64(next_);
    std::memcpy(value, &bits, sizeof bits);
    next_ += sizeof *value;
    return true;
  }

 private:
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - next_); }

  const char* next_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace steptape::detail
