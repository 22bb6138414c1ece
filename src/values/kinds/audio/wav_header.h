// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steptape::detail::values {

/// The format in a WAV header. REQUIRES: the bytes of a frame fit into 16 bits, the bytes of a
/// second and of the file into 32 bits.
struct WavFormat {
  std::uint32_t channels;
  std::uint32_t sampleRate;
  std::uint32_t sampleBytes;
  bool isFloat;  ///< Else integers.
};

/// Maximum size of a header in bytes.
inline constexpr std::int64_t kMaxWavHeader = 80;

/// Returns the bytes before the samples.
std::string wavHeader(const WavFormat& format, std::uint32_t frames);

/// The length of the sound in a WAV file.
struct WavLength {
  std::uint32_t channels = 0;
  std::uint32_t sampleRate = 0;
  std::uint32_t frames = 0;
};

/// Reads the header of a WAV file. Returns zeros if `file` is not one.
WavLength wavLength(std::string_view file);

}  // namespace steptape::detail::values
