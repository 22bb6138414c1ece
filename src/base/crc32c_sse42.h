// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nmmintrin.h>

namespace steptape::detail::base {
// Internal linkage: these functions use instructions that other translation units must not use.
namespace {

struct Sse42 {
  static std::uint32_t extend(std::uint32_t state, std::uint64_t bytes) {
    return static_cast<std::uint32_t>(_mm_crc32_u64(state, bytes));
  }
  static std::uint32_t extend(std::uint32_t state, std::uint32_t bytes) {
    return _mm_crc32_u32(state, bytes);
  }
  static std::uint32_t extend(std::uint32_t state, std::uint16_t bytes) {
    return _mm_crc32_u16(state, bytes);
  }
  static std::uint32_t extend(std::uint32_t state, std::uint8_t byte) {
    return _mm_crc32_u8(state, byte);
  }
};

}  // namespace
}  // namespace steptape::detail::base
