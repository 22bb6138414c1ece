// SPDX-License-Identifier: Apache-2.0
#if defined(__aarch64__)

#include "base/crc32c_arm64.h"

#include "base/crc32c_impl.h"
#include "base/crc32c_interleaved.h"

namespace steptape::detail::base {

std::uint32_t extendArm64(std::uint32_t crc, const char* data, std::size_t size) {
  return extendInterleaved<Arm64>(crc, data, size);
}

}  // namespace steptape::detail::base

#endif
