// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"

namespace steptape {

/// Pictures of one size, of 8 bits a channel, one after the other.
struct Frames {
  int width = 0;
  int height = 0;
  int channels = 0;                     ///< 1: gray, 3: RGB, 4: RGB and alpha.
  std::int64_t count = 0;               ///< At least 1.
  std::vector<std::uint8_t> data = {};  ///< (count, height, width, channels).
  std::uint64_t nanCount = 0;           ///< Elements that were NaN and are 0 here.
};

/// Says whether a video can be made of a tensor, by its shape and element type alone: the elements
/// may still be in flight.
///
/// @throws  Error(kInvalidArgument) naming the format, shape, element type, frame rate or size that
///          does not fit.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkVideo(const TensorView& video, const VideoOptions& options);

/// Copies a tensor's frames out; several videos are tiled to one.
///
/// N videos are shown in as many tiles as the next power of two has: 2 side by side, 4 in a square,
/// 8 in two rows, and so on, as tensorboardX tiles them. Tiles that are left over are black
/// (transparent where there is an alpha channel).
///
/// @param dataFormat The order of the dimensions: "NTCHW" or any other order of these letters;
///                   without an 'N' it is one video, without a 'C' a gray one.
/// @shape   T frames of H x W pixels, C of 1, 3 or 4 channels; none empty; any strides.
/// @units   As imagePixels(), NaN included.
/// @throws  Error(kInvalidArgument) as checkVideo().
/// @threads Thread-safe.
/// @cost    One pass and one allocation, 1 to 2 ns an element.
STEPTAPE_EXPORT Frames videoFrames(const TensorView& video, std::string_view dataFormat);

/// Compresses frames losslessly to an animated PNG that repeats for ever.
///
/// Of each frame only the rectangle is stored in which it differs from the one before.
///
/// @throws  Error(kInvalidArgument) for a size that encodePng() does not take, no frames, `data` of
///          another length, or a frame rate out of range.
/// @threads Thread-safe.
/// @cost    As encodePng(), for what changes. Meant for a background thread.
/// @source  PNG (Third Edition), 11.3.6 "Animation information".
STEPTAPE_EXPORT std::string encodeApng(const Frames& frames, double fps);

/// Compresses frames to an animated GIF that repeats for ever.
///
/// A frame of at most 256 colors keeps them; of others colors that are near each other are joined
/// by median cut. Times are rounded to hundredths of a second such that their sum never drifts: 8
/// frames a second last 13, 12, 13, 12, ... Browsers slow what is faster than 50 frames a second
/// down. Alpha is cut to opaque or transparent.
///
/// @throws  Error(kInvalidArgument) as encodeApng(), and for sides above 65535 pixels.
/// @threads Thread-safe.
/// @cost    20 to 40 ns a pixel that changes. Meant for a background thread.
/// @source  CompuServe, "Graphics Interchange Format", version 89a.
STEPTAPE_EXPORT std::string encodeGif(const Frames& frames, double fps);

}  // namespace steptape
