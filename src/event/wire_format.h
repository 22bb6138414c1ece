// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steptape::detail {

// The little of the Protocol Buffers wire format that hand-encoded events need.
// @source https://protobuf.dev/programming-guides/encoding/

enum class WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };

inline void appendVarint(std::string* out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out->push_back(static_cast<char>(value | 0x80));
  }
  out->push_back(static_cast<char>(value));
}

/// Appends what comes before a field's data. Field numbers below 16 take one byte.
inline void appendFieldKey(std::string* out, std::uint32_t field, WireType type) {
  appendVarint(out, field << 3 | static_cast<std::uint32_t>(type));
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

}  // namespace steptape::detail
