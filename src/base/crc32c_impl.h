// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "steptape/base/export.h"

// One CRC-32C, several ways to compute it. Only who chooses one and the tests, which run the same
// suite over each, look at this header.
namespace steptape::detail {

/// Extends a finished checksum over `size` bytes at `data`.
using ExtendFunction = std::uint32_t (*)(std::uint32_t crc, const char* data, std::size_t size);

/// One implementation; the function is null where this build or this processor lacks it.
struct Crc32cImplementation {
  const char* name;
  ExtendFunction extend;
};

/// Eight table look-ups for eight bytes; runs everywhere.
STEPTAPE_EXPORT Crc32cImplementation portableCrc32c();

/// The CRC instructions of the processor: SSE 4.2 on x86-64, the CRC extension on AArch64.
STEPTAPE_EXPORT Crc32cImplementation hardwareCrc32c();

// Each is in a translation unit of its own that is compiled for the named instructions, and is
// called only after the processor was asked for them.
#if defined(__x86_64__)
std::uint32_t extendSse42(std::uint32_t crc, const char* data, std::size_t size);
#elif defined(__aarch64__)
std::uint32_t extendArm64(std::uint32_t crc, const char* data, std::size_t size);
#endif

}  // namespace steptape::detail
