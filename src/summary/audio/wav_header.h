// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steptape::detail {

/// What a WAV file says of its samples. REQUIRES: the bytes of a frame fit into 16 bits, those of a
/// second and of the file into 32.
struct WavFormat {
  std::uint32_t channels;
  std::uint32_t sampleRate;
  std::uint32_t sampleBytes;
  bool isFloat;  ///< Else integers.
};

/// No header is longer.
inline constexpr std::int64_t kMaxWavHeader = 80;

/// Everything that comes before the samples.
std::string wavHeader(const WavFormat& format, std::uint32_t frames);

/// How long the sound in a WAV file is.
struct WavLength {
  std::uint32_t channels = 0;
  std::uint32_t sampleRate = 0;
  std::uint32_t frames = 0;
};

/// Reads the header of a WAV file; all 0 if `file` is not one.
WavLength wavLength(std::string_view file);

}  // namespace steptape::detail
