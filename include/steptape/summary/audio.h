// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace steptape {

/// How a WAV file stores its samples.
enum class AudioEncoding {
  kPcm16,    ///< 16-bit integers: what every player knows.
  kFloat32,  ///< As they are, beyond [-1, 1] too.
};

/// Options of addAudio().
struct AudioOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::int32_t sampleRate = 44100;  ///< Frames per second.
  std::string dataFormat = "LC";    ///< "LC": (frames, channels); "CL". Rank 1 is mono.
  AudioEncoding encoding = AudioEncoding::kPcm16;
};

}  // namespace steptape
