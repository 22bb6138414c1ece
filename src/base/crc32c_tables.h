// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace steptape::detail::base {

/// The polynomial of CRC-32C with its bits reversed.
inline constexpr std::uint32_t kCastagnoli = 0x82f63b78;

/// A linear map of checksum registers: one look-up for each byte of the register.
struct ByteTables {
  std::uint32_t entry[4][256];

  constexpr std::uint32_t apply(std::uint32_t crc) const {
    return entry[0][crc & 0xff] ^ entry[1][(crc >> 8) & 0xff] ^ entry[2][(crc >> 16) & 0xff] ^
           entry[3][crc >> 24];
  }
};

/// Returns the effect of `zeroBytes` zero bytes on a checksum register. To combine the registers of
/// two parts, shift the first register by the length of the second part, then xor.
///
/// @param zeroBytes A power of two.
constexpr ByteTables zeroByteShift(std::size_t zeroBytes) {
  // column[i] is where bit i of the register goes, at first for a single zero bit.
  std::uint32_t column[32] = {kCastagnoli};
  for (int i = 1; i < 32; ++i) {
    column[i] = std::uint32_t{1} << (i - 1);
  }
  for (std::size_t bits = 1; bits < 8 * zeroBytes; bits *= 2) {
    std::uint32_t squared[32] = {};
    for (int i = 0; i < 32; ++i) {
      for (int j = 0; j < 32; ++j) {
        squared[i] ^= ((column[i] >> j) & 1) != 0 ? column[j] : 0;
      }
    }
    for (int i = 0; i < 32; ++i) {
      column[i] = squared[i];
    }
  }

  ByteTables tables = {};
  for (int byte = 0; byte < 4; ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      const int known = 1 << bit;  // entries below `known` are done
      for (int i = 0; i < known; ++i) {
        tables.entry[byte][known + i] = tables.entry[byte][i] ^ column[8 * byte + bit];
      }
    }
  }
  return tables;
}

}  // namespace steptape::detail::base
