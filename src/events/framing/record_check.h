// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "steptape/events/record_reader.h"

#include "base/little_endian.h"
#include "events/framing/masked_crc32c.h"
#include "events/framing/record_format.h"

namespace steptape::detail::events {

inline constexpr std::uint64_t kNoRecord = ~std::uint64_t{0};

/// Returns the payload's length if `record` starts with a complete record with valid checksums,
/// else kNoRecord. `size` is the number of bytes available. This function is compiled once per
/// checksum implementation: for a short record, calls would cost more than the checksums.
///
/// @param known A length whose checksum is already verified; replaced by this record's.
using RecordLengthFunction = std::uint64_t (*)(const char* record, std::size_t size,
                                               KnownLength* known);

/// Calls the fastest implementation for this processor.
std::uint64_t recordLength(const char* record, std::size_t size, KnownLength* known);

// Each has its own translation unit; see crc32c_impl.h.
#if defined(__x86_64__)
std::uint64_t recordLengthSse42(const char* record, std::size_t size, KnownLength* known);
#elif defined(__aarch64__)
std::uint64_t recordLengthArm64(const char* record, std::size_t size, KnownLength* known);
#endif

/// Implements RecordLengthFunction.
///
/// @param extend Extends a finished checksum; inlined if it is defined in the same translation
///   unit.
template <typename Extend>
std::uint64_t checkRecord(const Extend& extend, const char* record, std::size_t size,
                          KnownLength* known) {
  if (size < kFramingBytes) {
    return kNoRecord;
  }
  const auto isGood = [](std::uint32_t stored, std::uint32_t crc) {
    return MaskedCrc32c(stored) == MaskedCrc32c::mask(base::Crc32c(crc));
  };
  const std::uint64_t length = base::loadLittleEndian64(record);
  const std::uint32_t lengthCrc = base::loadLittleEndian32(record + 8);
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
  const bool isWhole = isGood(base::loadLittleEndian32(data + length),
                              extend(0, data, static_cast<std::size_t>(length)));
  return isWhole ? length : kNoRecord;
}

}  // namespace steptape::detail::events
