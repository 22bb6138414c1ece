// SPDX-License-Identifier: Apache-2.0
#if defined(__aarch64__)

#include <arm_acle.h>

#include "record/crc32c_impl.h"
#include "record/crc32c_interleaved.h"
#include "record/record_check.h"

namespace steptape::detail {
namespace {

struct Arm64 {
  static std::uint32_t extend(std::uint32_t state, std::uint64_t bytes) {
    return __crc32cd(state, bytes);
  }
  static std::uint32_t extend(std::uint32_t state, std::uint32_t bytes) {
    return __crc32cw(state, bytes);
  }
  static std::uint32_t extend(std::uint32_t state, std::uint16_t bytes) {
    return __crc32ch(state, bytes);
  }
  static std::uint32_t extend(std::uint32_t state, std::uint8_t byte) {
    return __crc32cb(state, byte);
  }
};

}  // namespace

std::uint32_t extendArm64(std::uint32_t crc, const char* data, std::size_t size) {
  return extendInterleaved<Arm64>(crc, data, size);
}

std::uint64_t recordLengthArm64(const char* record, std::size_t size, KnownLength* known) {
  const auto extend = [](std::uint32_t crc, const char* data, std::size_t bytes) {
    return extendInterleaved<Arm64>(crc, data, bytes);
  };
  return checkRecord(extend, record, size, known);
}

}  // namespace steptape::detail

#endif
