// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "steptape/record/crc32c.h"
#include "steptape/record/record_format.h"
#include "steptape/record/record_reader.h"

#include "base/little_endian.h"
#include "record/crc32c_impl.h"

namespace steptape::detail {

/// As RecordLengthFunction.
///
/// @param extend Extends a finished checksum; inlined where it is a function of the same unit.
template <typename Extend>
std::uint64_t checkRecord(const Extend& extend, const char* record, std::size_t size,
                          KnownLength* known) {
  if (size < kFramingBytes) {
    return kNoRecord;
  }
  const auto isGood = [](std::uint32_t stored, std::uint32_t crc) {
    return MaskedCrc32c(stored) == MaskedCrc32c::mask(Crc32c(crc));
  };
  const std::uint64_t length = loadLittleEndian64(record);
  const std::uint32_t lengthCrc = loadLittleEndian32(record + 8);
  if (length != known->length || lengthCrc != known->storedCrc) {
    if (length > kMaxPayloadBytes || !isGood(lengthCrc, extend(0, record, 8))) {
      return kNoRecord;
    }
    *known = {length, lengthCrc};
  }
  if (length > size - kFramingBytes) {
    return kNoRecord;
  }
  const char* const data = record + kHeaderBytes;
  const bool isWhole =
      isGood(loadLittleEndian32(data + length), extend(0, data, static_cast<std::size_t>(length)));
  return isWhole ? length : kNoRecord;
}

}  // namespace steptape::detail
