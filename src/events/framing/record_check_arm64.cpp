// SPDX-License-Identifier: Apache-2.0
#if defined(__aarch64__)

#include "base/crc32c_arm64.h"
#include "base/crc32c_interleaved.h"
#include "events/framing/record_check.h"

namespace steptape::detail::events {

std::uint64_t recordLengthArm64(const char* record, std::size_t size, KnownLength* known) {
  const auto extend = [](std::uint32_t crc, const char* data, std::size_t bytes) {
    return base::extendInterleaved<base::Arm64>(crc, data, bytes);
  };
  return checkRecord(extend, record, size, known);
}

}  // namespace steptape::detail::events

#endif
