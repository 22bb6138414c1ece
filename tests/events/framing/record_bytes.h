// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/little_endian.h"
#include "events/framing/masked_crc32c.h"
#include "events/framing/record_buffer.h"
#include "events/framing/record_format.h"

namespace steptape {

inline std::string recordOf(std::string_view payload) {
  detail::events::RecordBuffer buffer;
  buffer.append(payload);
  return buffer.take();
}

/// Returns a header with a valid checksum for any length.
inline std::string headerOf(std::uint64_t length) {
  std::string bytes(detail::events::kHeaderBytes, '\0');
  detail::base::storeLittleEndian64(bytes.data(), length);
  detail::base::storeLittleEndian32(bytes.data() + 8,
                                    detail::events::maskedCrc32c({bytes.data(), 8}).value());
  return bytes;
}

}  // namespace steptape
