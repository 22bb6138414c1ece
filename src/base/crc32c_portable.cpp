// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c_impl.h"
#include "base/crc32c_tables.h"
#include "base/little_endian.h"

namespace steptape::detail::base {
namespace {

// entry[k][b] is the register after byte b followed by k zero bytes.
struct SlicingTables {
  std::uint32_t entry[8][256];
};

constexpr SlicingTables makeSlicingTables() {
  SlicingTables tables = {};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCastagnoli : 0);
    }
    tables.entry[0][byte] = crc;
  }
  for (int k = 1; k < 8; ++k) {
    for (int byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables.entry[k - 1][byte];
      tables.entry[k][byte] = (crc >> 8) ^ tables.entry[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr SlicingTables kTables = makeSlicingTables();

std::uint32_t extendPortable(std::uint32_t crc, const char* data, std::size_t size) {
  const auto& table = kTables.entry;
  std::uint32_t state = ~crc;
  for (; size >= 8; data += 8, size -= 8) {
    const std::uint32_t low = loadLittleEndian32(data) ^ state;
    const std::uint32_t high = loadLittleEndian32(data + 4);
    state = table[7][low & 0xff] ^ table[6][(low >> 8) & 0xff] ^ table[5][(low >> 16) & 0xff] ^
            table[4][low >> 24] ^ table[3][high & 0xff] ^ table[2][(high >> 8) & 0xff] ^
            table[1][(high >> 16) & 0xff] ^ table[0][high >> 24];
  }
  for (; size > 0; ++data, --size) {
    state = (state >> 8) ^ table[0][(state ^ static_cast<unsigned char>(*data)) & 0xff];
  }
  return ~state;
}

}  // namespace

Crc32cImplementation portableCrc32c() {
  return {"portable", &extendPortable};
}

}  // namespace steptape::detail::base
