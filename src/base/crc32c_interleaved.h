// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "base/crc32c_tables.h"

namespace steptape::detail::base {

// A CRC instruction takes three cycles, but one can start in every cycle. Three chains over three
// neighboring blocks therefore take as long as one chain. zeroByteShift() combines them.
// @source V. Gopal et al., "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction",
//   Intel, 2011

inline constexpr std::size_t kShortBlockBytes = 128;
inline constexpr std::size_t kLongBlockBytes = 2048;
inline constexpr ByteTables kShortBlockShift = zeroByteShift(kShortBlockBytes);
inline constexpr ByteTables kLongBlockShift = zeroByteShift(kLongBlockBytes);

template <typename Instructions, typename Bytes>
std::uint32_t extendBy(std::uint32_t state, const char* data) {
  Bytes bytes;
  std::memcpy(&bytes, data, sizeof bytes);
  return Instructions::extend(state, bytes);
}

template <typename Instructions>
std::uint32_t extendWord(std::uint32_t state, const char* data) {
  return extendBy<Instructions, std::uint64_t>(state, data);
}

template <typename Instructions, std::size_t kBlockBytes>
std::uint32_t extendThreeBlocks(std::uint32_t state, const char* data, const ByteTables& shift) {
  std::uint32_t second = 0;
  std::uint32_t third = 0;
  for (std::size_t i = 0; i < kBlockBytes; i += 8) {
    state = extendWord<Instructions>(state, data + i);
    second = extendWord<Instructions>(second, data + kBlockBytes + i);
    third = extendWord<Instructions>(third, data + 2 * kBlockBytes + i);
  }
  return shift.apply(shift.apply(state) ^ second) ^ third;
}

template <typename Instructions>
[[gnu::always_inline]] inline std::uint32_t extendShort(std::uint32_t state, const char* data,
                                                        std::size_t size) {
  for (const char* const words = data + size / 8 * 8; data != words; data += 8) {
    state = extendWord<Instructions>(state, data);
  }
  if ((size & 4) != 0) {
    state = extendBy<Instructions, std::uint32_t>(state, data);
    data += 4;
  }
  if ((size & 2) != 0) {
    state = extendBy<Instructions, std::uint16_t>(state, data);
    data += 2;
  }
  return (size & 1) != 0 ? extendBy<Instructions, std::uint8_t>(state, data) : state;
}

template <typename Instructions>
std::uint32_t extendLong(std::uint32_t state, const char* data, std::size_t size) {
  while (size >= 3 * kLongBlockBytes) {
    state = extendThreeBlocks<Instructions, kLongBlockBytes>(state, data, kLongBlockShift);
    data += 3 * kLongBlockBytes;
    size -= 3 * kLongBlockBytes;
  }
  while (size >= 3 * kShortBlockBytes) {
    state = extendThreeBlocks<Instructions, kShortBlockBytes>(state, data, kShortBlockShift);
    data += 3 * kShortBlockBytes;
    size -= 3 * kShortBlockBytes;
  }
  return extendShort<Instructions>(state, data, size);
}

/// Extends a finished checksum with `Instructions::extend()`, which takes 8, 4, 2 or 1 bytes.
///
/// `Instructions` must be local to its translation unit, so that this code is local too: it is
/// compiled for instructions that other units must not use.
template <typename Instructions>
[[gnu::always_inline]] inline std::uint32_t extendInterleaved(std::uint32_t crc, const char* data,
                                                              std::size_t size) {
  return ~(size < 3 * kShortBlockBytes ? extendShort<Instructions>(~crc, data, size)
                                       : extendLong<Instructions>(~crc, data, size));
}

}  // namespace steptape::detail::base
