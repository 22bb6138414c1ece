// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::detail::process {

/// The first bytes of every file of a black box: which process wrote it, and on which machine.
///
/// Integers have the byte order of the machine that wrote them, because a box is read on the same
/// machine or on one of its kind. `byteOrder` tells a reader that it is not.
///
/// @source docs/black_box_format.md, "Header"
struct BoxHeader {
  static constexpr std::array<char, 8> kMagic{'s', 't', 'e', 'p', 'b', 'o', 'x', '\n'};
  static constexpr std::uint32_t kByteOrder = 0x01020304;
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::size_t kBytes = 4096;  ///< What follows begins on a page of its own.

  std::array<char, 8> magic = kMagic;
  std::uint32_t byteOrder = kByteOrder;
  std::uint32_t version = kVersion;
  std::array<char, 16> part{};      ///< "id", "names", "log", "rings", …
  std::uint64_t box = 0;            ///< The random number in the box's name.
  std::uint64_t user = 0;           ///< The user's number.
  std::uint64_t pid = 0;            ///< As the process itself sees it.
  std::uint64_t pidNamespace = 0;   ///< Where that number means this process; 0: unknown.
  std::uint64_t processStart = 0;   ///< Clock ticks after the boot; 0: unknown.
  double created = 0;               ///< Seconds since 1970.
  std::array<char, 48> boot{};      ///< The kernel's random number of this boot; empty: unknown.
  std::array<char, 256> host{};     ///< The host's name, cut off if it is longer.
  std::array<char, 256> program{};  ///< The path of the program, cut off if it is longer.
  std::uint32_t crc = 0;            ///< CRC-32C of all bytes before it.
  std::uint32_t reserved = 0;

  /// Returns the text in one of the arrays.
  template <std::size_t kSize>
  static std::string textOf(const std::array<char, kSize>& field) {
    const std::string_view all(field.data(), kSize);
    return std::string(all.substr(0, all.find('\0')));
  }
};
static_assert(sizeof(BoxHeader) == 648, "the layout is a file format");

/// Returns a header for the calling process, without `part`, `box` and `crc`.
STEPTAPE_EXPORT BoxHeader headerOfThisProcess();

/// Returns the bytes of a file's header: BoxHeader::kBytes.
STEPTAPE_EXPORT std::string encodeBoxHeader(BoxHeader header, std::string_view part);

/// Reads the header at the start of `bytes`, which may be anything.
/// @return kDataLoss with what was got and expected.
STEPTAPE_EXPORT Status decodeBoxHeader(std::string_view bytes, std::string_view part,
                                       BoxHeader* header);

/// Returns whether the machine has not been booted since: only then do its clock ticks mean the
/// same, and can its process live.
STEPTAPE_EXPORT bool isOfThisBoot(const BoxHeader& header);

/// Returns whether the process certainly exists. False also if this cannot be known: in another
/// container, for example.
STEPTAPE_EXPORT bool isKnownToLive(const BoxHeader& header);

}  // namespace steptape::detail::process
