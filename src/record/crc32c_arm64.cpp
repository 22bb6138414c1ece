// SPDX-License-Identifier: Apache-2.0
#if defined(__aarch64__)

#include <arm_acle.h>

#include "record/crc32c_impl.h"
#include "record/crc32c_interleaved.h"
#include "record/record_check.h"

namespace steptape::detail {
namespace {

struct Arm64 {
  static std::uint32_t word(std::uint32_t state, std::uint64_t word) {
    return __crc32cd(state, word);
  }
  static std::uint32_t byte(std::uint32_t state, unsigned char byte) {
    return __crc32cb(state, byte);
  }
};

}  // namespace

std::uint32_t extendArm64(std::uint32_t crc, const char* data, std::size_t size) {
  return extendInterleaved<Arm64>(crc, data, size);
}

bool isRecordArm64(const char* record, std::size_t size, std::uint64_t* length) {
  return checkRecord(&extendInterleaved<Arm64>, record, size, length);
}

}  // namespace steptape::detail

#endif
