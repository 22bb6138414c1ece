// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace steptape::detail::base {

// Integers in the byte order of event files. On little-endian processors, each is one move.
// Assembling bytes one by one has the same meaning, but GCC 12 does not always optimize it.

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
inline constexpr bool kIsLittleEndian = true;
inline std::uint32_t toLittleEndian(std::uint32_t value) {
  return value;
}
inline std::uint64_t toLittleEndian(std::uint64_t value) {
  return value;
}
#else
inline constexpr bool kIsLittleEndian = false;
inline std::uint32_t toLittleEndian(std::uint32_t value) {
  return __builtin_bswap32(value);
}
inline std::uint64_t toLittleEndian(std::uint64_t value) {
  return __builtin_bswap64(value);
}
#endif

inline void storeLittleEndian32(char* out, std::uint32_t value) {
  value = toLittleEndian(value);
  std::memcpy(out, &value, sizeof value);
}

inline void storeLittleEndian64(char* out, std::uint64_t value) {
  value = toLittleEndian(value);
  std::memcpy(out, &value, sizeof value);
}

inline std::uint32_t loadLittleEndian32(const char* in) {
  std::uint32_t value;
  std::memcpy(&value, in, sizeof value);
  return toLittleEndian(value);
}

inline std::uint64_t loadLittleEndian64(const char* in) {
  std::uint64_t value;
  std::memcpy(&value, in, sizeof value);
  return toLittleEndian(value);
}

}  // namespace steptape::detail::base
