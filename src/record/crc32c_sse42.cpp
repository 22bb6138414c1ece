// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include <nmmintrin.h>

#include "record/crc32c_impl.h"
#include "record/crc32c_interleaved.h"
#include "record/record_check.h"

namespace steptape::detail {
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

std::uint32_t extendSse42(std::uint32_t crc, const char* data, std::size_t size) {
  return extendInterleaved<Sse42>(crc, data, size);
}

std::uint64_t recordLengthSse42(const char* record, std::size_t size, KnownLength* known) {
  const auto extend = [](std::uint32_t crc, const char* data, std::size_t bytes) {
    return extendInterleaved<Sse42>(crc, data, bytes);
  };
  return checkRecord(extend, record, size, known);
}

}  // namespace steptape::detail

#endif
