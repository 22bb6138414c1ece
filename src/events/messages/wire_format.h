// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/little_endian.h"

namespace steptape::detail::events {

// The parts of the Protocol Buffers wire format that hand-written encoders need.
// @source https://protobuf.dev/programming-guides/encoding/

enum class WireType : std::uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kFixed32 = 5
};

/// Returns the end of the bytes, of which there are at most kMaxVarint.
inline char* writeVarint(char* out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    *out++ = static_cast<char>(value | 0x80);
  }
  *out++ = static_cast<char>(value);
  return out;
}
inline constexpr std::size_t kMaxVarint = 10;

inline void appendVarint(std::string* out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out->push_back(static_cast<char>(value | 0x80));
  }
  out->push_back(static_cast<char>(value));
}

/// Appends the key of a field. Field numbers below 16 take one byte.
inline void appendFieldKey(std::string* out, std::uint32_t field, WireType type) {
  appendVarint(out, field << 3 | static_cast<std::uint32_t>(type));
}

/// Returns the number of bytes that appendVarint() appends.
inline std::size_t varintBytes(std::uint64_t value) {
  std::size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) {
    ++bytes;
  }
  return bytes;
}

inline void appendBytesField(std::string* out, std::uint32_t field, std::string_view bytes) {
  appendFieldKey(out, field, WireType::kLengthDelimited);
  appendVarint(out, bytes.size());
  out->append(bytes);
}

inline void appendVarintField(std::string* out, std::uint32_t field, std::uint64_t value) {
  appendFieldKey(out, field, WireType::kVarint);
  appendVarint(out, value);
}

inline void appendDoubleField(std::string* out, std::uint32_t field, double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  char bytes[sizeof bits];
  base::storeLittleEndian64(bytes, bits);
  appendFieldKey(out, field, WireType::kFixed64);
  out->append(bytes, sizeof bytes);
}

}  // namespace steptape::detail::events
