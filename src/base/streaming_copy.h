// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <cstdint>
#include <emmintrin.h>
#endif

namespace steptape::detail::base {

/// As memcpy(3), but leaves the processor's cache to others: the destination is not read into it.
/// For bytes that nobody reads soon, while other threads use the cache.
inline void streamingCopy(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
  constexpr std::size_t kVector = sizeof(__m128i);
  constexpr std::size_t kLine = 4 * kVector;
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const std::size_t head = (0 - reinterpret_cast<std::uintptr_t>(target)) % kVector;
  if (bytes >= head + kLine) {
    std::memcpy(target, source, head);
    target += head;
    source += head;
    bytes -= head;
    for (; bytes >= kLine; bytes -= kLine, target += kLine, source += kLine) {
      for (std::size_t at = 0; at < kLine; at += kVector) {
        const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at));
        _mm_stream_si128(reinterpret_cast<__m128i*>(target + at), part);
      }
    }
    _mm_sfence();  // Orders the stores before those that tell other threads of them.
  }
  to = target;
  from = source;
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace steptape::detail::base
