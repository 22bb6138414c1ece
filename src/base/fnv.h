// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace steptape::detail::base {

/// The hash FNV-1a with 32 or 64 bits. It is the same on every machine.
///
/// @source Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm", IETF draft, section 2
template <typename Hash>
class Fnv {
  static_assert(std::is_same_v<Hash, std::uint32_t> || std::is_same_v<Hash, std::uint64_t>);
  static constexpr bool kIsLong = sizeof(Hash) == sizeof(std::uint64_t);

 public:
  Fnv& add(std::uint8_t byte) {
    hash_ = (hash_ ^ byte) * kPrime;
    return *this;
  }
  /// Adds the eight bytes of `number`, lowest first.
  Fnv& add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      add(static_cast<std::uint8_t>(number >> shift));
    }
    return *this;
  }
  Fnv& add(std::string_view text) {
    for (const char c : text) {
      add(static_cast<std::uint8_t>(c));
    }
    return *this;
  }

  Hash hash() const { return hash_; }

 private:
  static constexpr Hash kPrime = static_cast<Hash>(kIsLong ? 0x100000001b3U : 0x01000193U);

  Hash hash_ = static_cast<Hash>(kIsLong ? 0xcbf29ce484222325U : 0x811c9dc5U);
};

}  // namespace steptape::detail::base
