// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/deflate/crc32.h"

#include <zlib.h>

namespace steptape::detail::profile {

std::uint32_t extendCrc32(std::uint32_t crc, const char* data, std::size_t size) {
  static const bool kFolds = canFoldCrc32();
  if (kFolds && size >= 64) {
    const std::size_t folded = size / 16 * 16;
    crc = foldCrc32(crc, data, folded);
    data += folded;
    size -= folded;
  }
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const unsigned char*>(data), size));
}

}  // namespace steptape::detail::profile
