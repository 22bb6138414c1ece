// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "steptape/base/export.h"

// The implementations of CRC-32C. Only the code that selects one includes this header, and the
// tests, which run the same suite on each.
namespace steptape::detail::base {

/// Extends a finished checksum over `size` bytes at `data`.
using ExtendFunction = std::uint32_t (*)(std::uint32_t crc, const char* data, std::size_t size);

/// One implementation. `extend` is null if this build or this processor does not support it.
struct Crc32cImplementation {
  const char* name;
  ExtendFunction extend;
};

/// Returns the implementation with eight table look-ups per eight bytes. It runs everywhere.
STEPTAPE_EXPORT Crc32cImplementation portableCrc32c();

/// Returns the implementation with the processor's CRC instructions: SSE 4.2 on x86-64, the CRC
/// extension on AArch64.
STEPTAPE_EXPORT Crc32cImplementation hardwareCrc32c();

// Each function has its own translation unit, compiled for these instructions. Call one only after
// a check that the processor has them.
#if defined(__x86_64__)
std::uint32_t extendSse42(std::uint32_t crc, const char* data, std::size_t size);
#elif defined(__aarch64__)
std::uint32_t extendArm64(std::uint32_t crc, const char* data, std::size_t size);
#endif

}  // namespace steptape::detail::base
