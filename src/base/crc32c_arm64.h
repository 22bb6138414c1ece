// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arm_acle.h>
#include <cstdint>

namespace steptape::detail::base {
// Internal linkage: these functions use instructions that other translation units must not use.
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
}  // namespace steptape::detail::base
