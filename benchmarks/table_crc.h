// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace benchmark {

/// A masked CRC-32C computed byte by byte from a table of 256 entries, as readers and writers of
/// event files commonly do.
class TableCrc {
 public:
  TableCrc() {
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) {
        crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
      }
      table_[i] = crc;
    }
  }

  std::uint32_t masked(std::string_view bytes) const {
    std::uint32_t crc = ~0U;
    for (const char c : bytes) {
      crc = table_[(crc ^ static_cast<unsigned char>(c)) & 0xffU] ^ (crc >> 8);
    }
    crc = ~crc;
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
  }

 private:
  std::array<std::uint32_t, 256> table_{};
};

}  // namespace benchmark
