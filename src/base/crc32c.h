// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// A CRC-32C (Castagnoli) checksum.
///
/// Checksums have their own type because they can be compared and printed but not computed with. A
/// default-constructed Crc32c is the checksum of zero bytes.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  RFC 3720, section 12.1 and appendix B.4
class STEPTAPE_EXPORT Crc32c {
 public:
  constexpr Crc32c() = default;
  explicit constexpr Crc32c(std::uint32_t value) : value_(value) {}

  constexpr std::uint32_t value() const { return value_; }

  /// Returns eight hexadecimal digits, such as "0x8a9136aa".
  std::string toString() const;

  friend constexpr bool operator==(Crc32c a, Crc32c b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Crc32c a, Crc32c b) { return a.value_ != b.value_; }

 private:
  std::uint32_t value_ = 0;
};

/// Returns the checksum of the bytes that gave `crc`, followed by `bytes`.
///
/// @threads Thread-safe.
/// @cost    A few nanoseconds for a scalar's record. About 20 GB/s for long input if the processor
///          has CRC instructions, about 1 GB/s otherwise. The first call detects the instructions.
STEPTAPE_EXPORT Crc32c extend(Crc32c crc, std::string_view bytes);

/// Returns the checksum of `bytes`; see extend().
inline Crc32c crc32c(std::string_view bytes) {
  return extend(Crc32c(), bytes);
}

}  // namespace steptape::detail::base
