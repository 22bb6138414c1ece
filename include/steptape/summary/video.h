// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace steptape {

/// The file format of a video; TensorBoard's image page plays both.
enum class VideoFormat {
  kApng,  ///< Animated PNG: true colour, lossless.
  kGif,   ///< 256 colours a frame; for viewers that know no animated PNG.
};

/// Options of addVideo().
struct VideoOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::string dataFormat = "NTCHW";
  double fps = 4;
  VideoFormat format = VideoFormat::kApng;
};

}  // namespace steptape
