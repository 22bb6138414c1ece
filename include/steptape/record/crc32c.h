// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape {

/// A CRC-32C (Castagnoli) checksum.
///
/// A type of its own because a checksum is not a number: it compares and prints, and has no
/// arithmetic. Default-constructed, it is the checksum of no bytes.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  RFC 3720, section 12.1 and appendix B.4
class STEPTAPE_EXPORT Crc32c {
 public:
  constexpr Crc32c() = default;
  explicit constexpr Crc32c(std::uint32_t value) : value_(value) {}

  constexpr std::uint32_t value() const { return value_; }

  /// Eight hexadecimal digits, such as "0x8a9136aa".
  std::string toString() const;

  friend constexpr bool operator==(Crc32c a, Crc32c b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Crc32c a, Crc32c b) { return a.value_ != b.value_; }

 private:
  std::uint32_t value_ = 0;
};

/// A checksum as event files store it: rotated and offset, because the CRC of bytes that hold their
/// own CRC is poor at finding damage.
///
/// A separate type, so that a masked checksum is never compared with an unmasked one.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  docs/event_file_format.md, "Checksums"
class STEPTAPE_EXPORT MaskedCrc32c {
 public:
  /// Takes a value that is masked already, as read from a file; to mask one, use mask().
  explicit constexpr MaskedCrc32c(std::uint32_t value) : value_(value) {}

  static constexpr MaskedCrc32c mask(Crc32c crc) {
    return MaskedCrc32c(((crc.value() >> 15) | (crc.value() << 17)) + kOffset);
  }
  constexpr Crc32c unmask() const {
    const std::uint32_t rotated = value_ - kOffset;
    return Crc32c((rotated >> 17) | (rotated << 15));
  }

  constexpr std::uint32_t value() const { return value_; }

  /// Eight hexadecimal digits, such as "0x5794d08a".
  std::string toString() const;

  friend constexpr bool operator==(MaskedCrc32c a, MaskedCrc32c b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(MaskedCrc32c a, MaskedCrc32c b) { return a.value_ != b.value_; }

 private:
  static constexpr std::uint32_t kOffset = 0xa282ead8;

  std::uint32_t value_;
};

/// The checksum of the bytes that gave `crc`, followed by `bytes`.
///
/// @threads Thread-safe.
/// @cost    A few nanoseconds for a scalar's record; about 20 GB/s for long input where the
///          processor has CRC instructions, about 1 GB/s elsewhere. Which one is found out by the
///          first call.
STEPTAPE_EXPORT Crc32c extend(Crc32c crc, std::string_view bytes);

/// The checksum of `bytes`; as extend().
inline Crc32c crc32c(std::string_view bytes) {
  return extend(Crc32c(), bytes);
}

/// The masked checksum of `bytes`, as a record's header and footer hold it; as extend().
inline MaskedCrc32c maskedCrc32c(std::string_view bytes) {
  return MaskedCrc32c::mask(crc32c(bytes));
}

}  // namespace steptape
