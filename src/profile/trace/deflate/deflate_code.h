// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steptape::detail::profile {

// The prefix codes of this library's deflate streams, as tables that are made when the program is
// compiled.
// @source RFC 1951

inline constexpr std::size_t kMinMatchLength = 3;
inline constexpr std::size_t kMaxMatchLength = 258;
inline constexpr std::size_t kMaxMatchDistance = 32768;

inline constexpr std::size_t kEndOfBlock = 256;
inline constexpr std::size_t kFirstLengthSymbol = 257;
inline constexpr std::size_t kLiteralSymbols = 286;
inline constexpr std::size_t kDistanceSymbols = 30;

/// How many bits each symbol takes. Of an optimal code for what the traces of some training loops
/// left as literals and matches, mostly digits; other characters count as if they were rare.
inline constexpr std::array<std::uint8_t, kLiteralSymbols> kChromeLiteralBits = {
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 12, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 5,  12, 5,  11, 12, 12, 12, 12, 10, 10, 12, 12, 6,  9,  4,  10,
    4,  4,  4,  5,  4,  5,  4,  5,  5,  5,  7,  12, 11, 12, 11, 12, 12, 10, 10, 9,  11, 10, 10, 10,
    11, 8,  11, 11, 10, 10, 10, 10, 10, 11, 10, 8,  10, 11, 11, 11, 11, 11, 11, 6,  12, 6,  12, 8,
    12, 6,  9,  7,  7,  6,  8,  8,  9,  7,  9,  9,  7,  8,  6,  7,  7,  10, 7,  7,  6,  7,  9,  9,
    9,  8,  9,  11, 12, 11, 12, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 14, 14, 14, 13, 8,  12, 12, 6,  9,  7,
    9,  7,  8,  8,  7,  7,  8,  10, 10, 8,  8,  5,  9,  7,  8,  8,  9,  8,  8,  10, 10, 9,
};
inline constexpr std::array<std::uint8_t, kDistanceSymbols> kChromeDistanceBits = {
    11, 11, 11, 7, 10, 10, 10, 11, 10, 11, 11, 11, 11, 6, 3,
    2,  2,  5,  5, 6,  4,  5,  5,  6,  5,  5,  5,  7,  6, 7,
};

/// The same for binary Perfetto traces.
inline constexpr std::array<std::uint8_t, kLiteralSymbols> kPerfettoLiteralBits = {
    3,  4,  5,  5,  6,  6,  6,  7,  5,  8,  7,  8,  9,  7,  10, 10, 10, 10, 10, 11, 11, 6,  11, 11,
    9,  11, 10, 10, 11, 11, 11, 11, 6,  11, 6,  10, 10, 10, 11, 10, 11, 11, 11, 11, 10, 11, 10, 10,
    10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 12, 12, 12, 12, 12, 5,  12, 11, 12, 12, 12, 12, 12,
    9,  12, 12, 12, 12, 12, 10, 11, 8,  12, 12, 11, 12, 12, 12, 12, 12, 12, 9,  11, 12, 11, 12, 11,
    12, 11, 12, 12, 12, 11, 12, 12, 9,  11, 12, 12, 11, 12, 11, 11, 12, 12, 11, 11, 11, 12, 12, 12,
    12, 12, 12, 12, 12, 12, 12, 12, 6,  7,  8,  9,  9,  6,  9,  9,  7,  9,  9,  9,  9,  9,  9,  9,
    9,  9,  9,  9,  8,  9,  9,  9,  9,  10, 10, 10, 9,  9,  10, 10, 9,  10, 9,  10, 10, 9,  9,  10,
    9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  10, 9,  10, 9,  9,  9,  9,  10, 9,  10, 9,
    7,  9,  9,  10, 6,  10, 9,  10, 8,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,
    9,  9,  9,  9,  9,  9,  9,  9,  8,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,  9,
    9,  9,  9,  9,  9,  9,  9,  9,  8,  7,  10, 9,  9,  10, 9,  4,  15, 15, 15, 15, 15, 15, 15, 15,
    15, 4,  6,  12, 15, 15, 12, 15, 15, 5,  6,  7,  12, 15, 15, 15, 15, 15, 15, 15, 14, 14,
};
inline constexpr std::array<std::uint8_t, kDistanceSymbols> kPerfettoDistanceBits = {
    15, 15, 15, 15, 15, 15, 3, 6, 14, 8, 6, 4,  3,  7,  3,
    4,  4,  7,  5,  7,  5,  5, 6, 7,  9, 7, 12, 10, 11, 2,
};

/// Bits of a stream; the first one is the lowest.
struct BitCode {
  std::uint32_t bits;
  std::uint32_t count;
};

template <std::size_t kSymbols>
constexpr std::array<BitCode, kSymbols> canonicalCode(
    const std::array<std::uint8_t, kSymbols>& bitCounts) {
  constexpr std::uint32_t kMaxBits = 15;
  std::array<BitCode, kSymbols> code{};
  std::uint32_t next = 0;  // the highest bit is first
  for (std::uint32_t count = 1; count <= kMaxBits; ++count) {
    next <<= 1;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
      if (bitCounts[symbol] != count) {
        continue;
      }
      for (std::uint32_t bit = 0; bit < count; ++bit) {
        code[symbol].bits |= ((next >> bit) & 1) << (count - 1 - bit);
      }
      code[symbol].count = count;
      ++next;
    }
  }
  return code;
}

constexpr std::uint32_t floorLog2(std::size_t value) {
  return static_cast<std::uint32_t>(63 - __builtin_clzll(value));
}

/// Returns a symbol for several values, with the bits that select one of them.
constexpr BitCode withExtra(BitCode symbol, std::size_t value, std::uint32_t extraCount) {
  const std::size_t extra = value & ((std::size_t{1} << extraCount) - 1);
  return {symbol.bits | static_cast<std::uint32_t>(extra << symbol.count),
          symbol.count + extraCount};
}

struct DeflateCode {
  std::array<BitCode, kLiteralSymbols> literals;
  std::array<BitCode, kDistanceSymbols> distances;
  std::array<BitCode, kMaxMatchLength + 1> matchLengths;

  BitCode matchDistance(std::size_t distance) const {
    const std::size_t value = distance - 1;
    if (value < 4) {
      return distances[value];
    }
    const std::uint32_t extraCount = floorLog2(value) - 1;
    return withExtra(distances[2 * extraCount + (value >> extraCount)], value, extraCount);
  }
};

constexpr BitCode matchLengthCode(const std::array<BitCode, kLiteralSymbols>& literals,
                                  std::size_t length) {
  if (length == kMaxMatchLength) {
    return literals[kLiteralSymbols - 1];
  }
  const std::size_t value = length - kMinMatchLength;
  if (value < 8) {
    return literals[kFirstLengthSymbol + value];
  }
  const std::uint32_t extraCount = floorLog2(value) - 2;
  return withExtra(literals[kFirstLengthSymbol + 4 * extraCount + (value >> extraCount)], value,
                   extraCount);
}

constexpr DeflateCode makeDeflateCode(
    const std::array<std::uint8_t, kLiteralSymbols>& literalBits,
    const std::array<std::uint8_t, kDistanceSymbols>& distanceBits) {
  DeflateCode code{canonicalCode(literalBits), canonicalCode(distanceBits), {}};
  for (std::size_t length = kMinMatchLength; length <= kMaxMatchLength; ++length) {
    code.matchLengths[length] = matchLengthCode(code.literals, length);
  }
  return code;
}

inline constexpr DeflateCode kChromeTraceCode =
    makeDeflateCode(kChromeLiteralBits, kChromeDistanceBits);
inline constexpr DeflateCode kPerfettoTraceCode =
    makeDeflateCode(kPerfettoLiteralBits, kPerfettoDistanceBits);

}  // namespace steptape::detail::profile
