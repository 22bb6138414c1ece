// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/summary/tensor_view.h"

namespace steptape {

/// An image of 8 bits a channel that owns its pixels.
struct Pixels {
  int width = 0;
  int height = 0;
  int channels = 0;                ///< 1: grey, 3: RGB, 4: RGB and alpha.
  std::vector<std::uint8_t> data;  ///< Row by row, channels interleaved: (height, width, channels).
};

/// Copies a tensor's pixels out.
///
/// @param image      One image.
/// @param dataFormat The order of its dimensions: "CHW", "HWC", "HW" or any other order of these
///                   letters; without a 'C' the image is grey.
/// @shape   Three dimensions with 1, 3 or 4 channels, or two; none empty; any strides.
/// @units   uint8: 0..255, taken as it is. Floating point: 0..1, times 255 in binary32, clamped to
///          0..255 and cut to an integer; NaN becomes 0. Bool: 0 and 255.
/// @throws  Error(kInvalidArgument) naming the format, shape or element type that does not fit.
/// @threads Thread-safe.
/// @cost    One pass and one allocation, 1 to 2 ns an element.
STEPTAPE_EXPORT Pixels imagePixels(const TensorView& image, std::string_view dataFormat);

/// Copies a batch of images out, tiled to one.
///
/// The tiles lie row by row, min(N, 8) to a row, without a gap; tiles missing in the last row are
/// black (transparent where there is an alpha channel), as tensorboardX lays them out.
///
/// @param images     N images of one size.
/// @param dataFormat The order of the dimensions: "NCHW", "NHWC", "NHW" or any other order of these
///                   letters; without a 'C' the images are grey.
/// Units, errors, thread rule and cost are those of imagePixels().
STEPTAPE_EXPORT Pixels imageGrid(const TensorView& images, std::string_view dataFormat);

/// Compresses an image losslessly to a PNG file.
///
/// @throws  Error(kInvalidArgument) if the channels are not 1, 3 or 4, or a side is not positive,
///          or `data` has not width · height · channels bytes.
/// @threads Thread-safe.
/// @cost    About 16 ns a byte of a photograph, a seventh of libpng's default time at the same
/// size;
///          still far more than copying the pixels, so meant for a background thread.
/// @source  PNG (Third Edition), W3C, https://www.w3.org/TR/png-3/; zlib.
STEPTAPE_EXPORT std::string encodePng(const Pixels& pixels);

/// Makes the value that TensorBoard's image page shows.
///
/// @param png      The encoded image; `width` and `height` are its size in pixels.
/// @param metadata Display name and description; plugin, content and data class are set here.
/// @shape   The tensor is rank 1, DT_STRING: the width and the height in decimal, then the PNG.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/image/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT Value imageValue(std::string tag, int width, int height, std::string png,
                                 SummaryMetadata metadata = {});

}  // namespace steptape
