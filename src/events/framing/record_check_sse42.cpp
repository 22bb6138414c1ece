// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include "base/crc32c_interleaved.h"
#include "base/crc32c_sse42.h"
#include "events/framing/record_check.h"

namespace steptape::detail::events {

std::uint64_t recordLengthSse42(const char* record, std::size_t size, KnownLength* known) {
  const auto extend = [](std::uint32_t crc, const char* data, std::size_t bytes) {
    return base::extendInterleaved<base::Sse42>(crc, data, bytes);
  };
  return checkRecord(extend, record, size, known);
}

}  // namespace steptape::detail::events

#endif
