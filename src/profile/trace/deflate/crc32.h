// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "steptape/base/export.h"

namespace steptape::detail::profile {

/// Extends gzip's checksum, which is 0 for no bytes, over `size` bytes at `data`. If the processor
/// has carry-less multiplication, it is several times as fast as zlib's.
STEPTAPE_EXPORT std::uint32_t extendCrc32(std::uint32_t crc, const char* data, std::size_t size);

/// Does the same with carry-less multiplication. In its own translation unit, compiled for these
/// instructions. REQUIRES: size >= 64, and a multiple of 16; canFoldCrc32().
std::uint32_t foldCrc32(std::uint32_t crc, const char* data, std::size_t size);

bool canFoldCrc32();

}  // namespace steptape::detail::profile
