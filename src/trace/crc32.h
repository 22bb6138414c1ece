// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "steptape/base/export.h"

namespace steptape::detail {

/// Extends gzip's checksum of what came before, 0 of nothing, over `size` bytes at `data`. Where
/// the processor multiplies without carries, some times as fast as zlib's.
STEPTAPE_EXPORT std::uint32_t extendCrc32(std::uint32_t crc, const char* data, std::size_t size);

/// The same by such multiplications. In a unit of its own, which is compiled for them.
/// REQUIRES: size >= 64, and a multiple of 16; canFoldCrc32().
std::uint32_t foldCrc32(std::uint32_t crc, const char* data, std::size_t size);

bool canFoldCrc32();

}  // namespace steptape::detail
