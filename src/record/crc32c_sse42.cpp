// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include <nmmintrin.h>

#include "record/crc32c_impl.h"
#include "record/crc32c_interleaved.h"
#include "record/record_check.h"

namespace steptape::detail {
namespace {

struct Sse42 {
  static std::uint32_t word(std::uint32_t state, std::uint64_t word) {
    return static_cast<std::uint32_t>(_mm_crc32_u64(state, word));
  }
  static std::uint32_t byte(std::uint32_t state, unsigned char byte) {
    return _mm_crc32_u8(state, byte);
  }
};

}  // namespace

std::uint32_t extendSse42(std::uint32_t crc, const char* data, std::size_t size) {
  return extendInterleaved<Sse42>(crc, data, size);
}

bool isRecordSse42(const char* record, std::size_t size, std::uint64_t* length) {
  return checkRecord(&extendInterleaved<Sse42>, record, size, length);
}

}  // namespace steptape::detail

#endif
