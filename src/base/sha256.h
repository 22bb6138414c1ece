// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::base {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// Computes SHA-256 of bytes that arrive in pieces.
///
/// @source FIPS 180-4.
/// @cost   About 4 ns a byte: it runs in the background, next to a network.
class STEPTAPE_EXPORT Sha256 {
 public:
  Sha256() = default;

  void update(std::string_view bytes);
  /// Returns the digest of all bytes. REQUIRES: the last call.
  Sha256Digest finish();

 private:
  static constexpr std::size_t kBlock = 64;
  void addBlock(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlock> pending_{};
  std::size_t pendingBytes_ = 0;
  std::uint64_t bytes_ = 0;
};

STEPTAPE_EXPORT Sha256Digest sha256(std::string_view bytes);

/// Returns the keyed hash of `bytes`.
/// @source RFC 2104.
STEPTAPE_EXPORT Sha256Digest hmacSha256(std::string_view key, std::string_view bytes);

/// Returns the digest as bytes, for use as a key.
inline std::string_view bytesOf(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

/// Returns the digest as 64 lower-case hexadecimal digits.
STEPTAPE_EXPORT std::string hexadecimal(const Sha256Digest& digest);

}  // namespace steptape::detail::base
