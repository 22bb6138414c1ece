// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "steptape/record/crc32c.h"
#include "steptape/record/record_format.h"

#include "base/little_endian.h"

namespace steptape::detail {

/// Whether a whole record with good checksums lies at `record`; as IsRecordFunction.
///
/// @param extend Extends a finished checksum; inlined where it is a lambda of the same unit.
template <typename Extend>
bool checkRecord(const Extend& extend, const char* record, std::size_t size,
                 std::uint64_t* length) {
  if (size < kFramingBytes) {
    return false;
  }
  *length = loadLittleEndian64(record);
  if (*length > size - kFramingBytes || *length > kMaxPayloadBytes) {
    return false;
  }
  const char* const data = record + kHeaderBytes;
  const auto isGood = [](const char* stored, std::uint32_t crc) {
    return MaskedCrc32c(loadLittleEndian32(stored)) == MaskedCrc32c::mask(Crc32c(crc));
  };
  return isGood(record + 8, extend(0, record, 8)) &&
         isGood(data + *length, extend(0, data, static_cast<std::size_t>(*length)));
}

}  // namespace steptape::detail
