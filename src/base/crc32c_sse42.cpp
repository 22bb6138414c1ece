// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include "base/crc32c_sse42.h"

#include "base/crc32c_impl.h"
#include "base/crc32c_interleaved.h"

namespace steptape::detail::base {

std::uint32_t extendSse42(std::uint32_t crc, const char* data, std::size_t size) {
  return extendInterleaved<Sse42>(crc, data, size);
}

}  // namespace steptape::detail::base

#endif
