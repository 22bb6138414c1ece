// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "record/crc32c_tables.h"

namespace steptape::detail {

// A CRC instruction takes three cycles, but one can start in each cycle: three chains over three
// neighbouring blocks run at the speed of one, and zeroByteShift() joins them.
// @source V. Gopal et al., "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction",
//         Intel, 2011

inline constexpr std::size_t kShortBlockBytes = 128;
inline constexpr std::size_t kLongBlockBytes = 2048;
inline constexpr ByteTables kShortBlockShift = zeroByteShift(kShortBlockBytes);
inline constexpr ByteTables kLongBlockShift = zeroByteShift(kLongBlockBytes);

template <typename Instructions>
std::uint32_t extendWord(std::uint32_t state, const char* data) {
  std::uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return Instructions::word(state, word);
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

/// Extends a finished checksum with `Instructions::word()` and `Instructions::byte()`.
///
/// `Instructions` must be local to its translation unit: then so is this code, which is compiled
/// for instructions that other units must not be given.
template <typename Instructions>
std::uint32_t extendInterleaved(std::uint32_t crc, const char* data, std::size_t size) {
  std::uint32_t state = ~crc;
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
  for (; size >= 8; data += 8, size -= 8) {
    state = extendWord<Instructions>(state, data);
  }
  for (; size > 0; ++data, --size) {
    state = Instructions::byte(state, static_cast<unsigned char>(*data));
  }
  return ~state;
}

}  // namespace steptape::detail
