// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape::detail {

// Integers as event files store them. Compilers turn each of these into one move on little-endian
// processors.

inline void storeLittleEndian32(char* out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) {
    out[i] = static_cast<char>(value >> (8 * i));
  }
}

inline void storeLittleEndian64(char* out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) {
    out[i] = static_cast<char>(value >> (8 * i));
  }
}

inline std::uint32_t loadLittleEndian32(const char* in) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(in[i])} << (8 * i);
  }
  return value;
}

inline std::uint64_t loadLittleEndian64(const char* in) {
  return loadLittleEndian32(in) | std::uint64_t{loadLittleEndian32(in + 4)} << 32;
}

}  // namespace steptape::detail
