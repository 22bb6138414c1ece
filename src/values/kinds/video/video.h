// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/values/tensor_view.h"
#include "steptape/values/value_options.h"

#include "values/kinds/image/image.h"

namespace steptape::detail::values {

/// Consecutive images of one size, with 8 bits per channel.
struct Frames {
  int width = 0;
  int height = 0;
  int channels = 0;                     ///< 1: gray, 3: RGB, 4: RGB and alpha.
  std::int64_t count = 0;               ///< At least 1.
  std::vector<std::uint8_t> data = {};  ///< (count, height, width, channels).
  UnshownElements unshown = {};         ///< Of the tensor.
};

/// Checks whether a tensor can become a video, by its shape and element type alone, because the
/// elements may still be in flight.
///
/// @throws  Error(kInvalidArgument) with the invalid format, shape, element type, frame rate or
///          size.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkVideo(const TensorView& video, const VideoOptions& options);

/// Copies the frames of a tensor; tiles several videos into one.
///
/// N videos use as many tiles as the next power of two: 2 side by side, 4 in a square, 8 in two
/// rows, and so on, as in tensorboardX. Unused tiles are black, or transparent if there is an alpha
/// channel.
///
/// @param dataFormat Order of the dimensions: "NTCHW" or any other order of these letters; without
///                   an 'N' it is one video, without a 'C' a gray one.
/// @shape   T frames of H x W pixels with C = 1, 3 or 4 channels; none empty; any strides.
/// @units   As imagePixels(), including NaN and clipping.
/// @throws  Error(kInvalidArgument) as checkVideo().
/// @threads Thread-safe.
/// @cost    One pass and one allocation, 1 to 2 ns per element.
STEPTAPE_EXPORT Frames videoFrames(const TensorView& video, std::string_view dataFormat);

/// Compresses frames losslessly to an animated PNG that repeats forever.
///
/// Stores only the rectangle of each frame that differs from the previous one.
///
/// @throws  Error(kInvalidArgument) for a size that encodePng() does not accept, no frames, `data`
///          of another length, or a frame rate out of range.
/// @threads Thread-safe.
/// @cost    As encodePng(), for the changed pixels. Meant for a background thread.
/// @source  PNG (Third Edition), 11.3.6 "Animation information".
STEPTAPE_EXPORT std::string encodeApng(const Frames& frames, double fps);

}  // namespace steptape::detail::values
