// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/crc32c.h"

namespace steptape::detail::events {

/// A checksum as event files store it: rotated and offset, because a CRC of bytes that contain
/// their own CRC detects damage poorly.
///
/// A separate type, so that a masked checksum is never compared with an unmasked one.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  docs/event_file_format.md, "Checksums"
class MaskedCrc32c {
 public:
  /// Holds a value that is already masked, such as one read from a file. mask() masks a checksum.
  explicit constexpr MaskedCrc32c(std::uint32_t value) : value_(value) {}

  static constexpr MaskedCrc32c mask(base::Crc32c crc) {
    return MaskedCrc32c(((crc.value() >> 15) | (crc.value() << 17)) + kOffset);
  }
  constexpr base::Crc32c unmask() const {
    const std::uint32_t rotated = value_ - kOffset;
    return base::Crc32c((rotated >> 17) | (rotated << 15));
  }

  constexpr std::uint32_t value() const { return value_; }

  /// Returns eight hexadecimal digits, such as "0x5794d08a".
  std::string toString() const { return base::Crc32c(value_).toString(); }

  friend constexpr bool operator==(MaskedCrc32c a, MaskedCrc32c b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(MaskedCrc32c a, MaskedCrc32c b) { return a.value_ != b.value_; }

 private:
  static constexpr std::uint32_t kOffset = 0xa282ead8;

  std::uint32_t value_;
};

/// Returns the masked checksum of `bytes` that is stored in a record; see extend().
inline MaskedCrc32c maskedCrc32c(std::string_view bytes) {
  return MaskedCrc32c::mask(base::crc32c(bytes));
}

}  // namespace steptape::detail::events
