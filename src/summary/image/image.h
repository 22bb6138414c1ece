// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"

namespace steptape {

/// An image of 8 bits a channel that owns its pixels.
struct Pixels {
  int width = 0;
  int height = 0;
  int channels = 0;                ///< 1: gray, 3: RGB, 4: RGB and alpha.
  std::vector<std::uint8_t> data;  ///< Row by row, channels interleaved: (height, width, channels).
  std::uint64_t nanCount = 0;      ///< Elements of the tensor that were NaN and are 0 here.
};

/// Says whether imagePixels() takes a tensor, by its shape and element type alone: the elements may
/// still be in flight.
///
/// @throws  Error(kInvalidArgument) naming the format, shape or element type that does not fit, or
///          a size that encodePng() does not take.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkImage(const TensorView& image, std::string_view dataFormat);

/// Copies a tensor's pixels out.
///
/// NaN becomes 0 and is counted: a picture of a diverging network must not end its training, and
/// shows by its holes what happened.
///
/// @param image      One image.
/// @param dataFormat The order of its dimensions: "CHW", "HWC", "HW" or any other order of these
///                   letters; without a 'C' the image is gray.
/// @shape   Three dimensions with 1, 3 or 4 channels, or two; none empty; any strides.
/// @units   uint8: 0..255, taken as it is. Floating point: 0..1, times 255 in binary32, clamped to
///          0..255 and cut to an integer. Bool: 0 and 255. Other integers have no scale that is
///          right for all, and are an error.
/// @throws  Error(kInvalidArgument) as checkImage().
/// @threads Thread-safe.
/// @cost    One pass and one allocation, 1 to 2 ns an element.
STEPTAPE_EXPORT Pixels imagePixels(const TensorView& image, std::string_view dataFormat);

/// As checkImage(), for imageGrid().
STEPTAPE_EXPORT void checkImageGrid(const TensorView& images, std::string_view dataFormat);

/// Copies a batch of images out, tiled to one.
///
/// The tiles lie row by row, min(N, 8) to a row, without a gap; tiles missing in the last row are
/// black (transparent where there is an alpha channel), as tensorboardX lays them out.
///
/// @param images     N images of one size.
/// @param dataFormat The order of the dimensions: "NCHW", "NHWC", "NHW" or any other order of these
///                   letters; without a 'C' the images are gray.
/// Units, errors, thread rule and cost are those of imagePixels().
STEPTAPE_EXPORT Pixels imageGrid(const TensorView& images, std::string_view dataFormat);

/// Compresses an image losslessly to a PNG file.
///
/// @throws  Error(kInvalidArgument) if the channels are not 1, 3 or 4, or a side is not positive,
///          or `data` has not width · height · channels bytes.
/// @threads Thread-safe.
/// @cost    About 9 ns a byte of a photograph and 2 of a plot: 1.7 times and once the speed of
///          libpng at its fastest level, at 0.86 and 0.94 of its bytes (benchmarks/png.cpp). Still
///          far more than copying the pixels, so meant for a background thread.
/// @source  PNG (Third Edition), W3C, https://www.w3.org/TR/png-3/; zlib.
STEPTAPE_EXPORT std::string encodePng(const Pixels& pixels);

/// Makes the value that TensorBoard's image page shows.
///
/// @param png      The encoded image, or an animation; `width` and `height` are its size in pixels.
/// @param metadata Display name and description; plugin, content and data class are set here.
/// @shape   kCompatible: a SummaryImage; it has metadata only where that names something.
///          kTensor: a tensor of rank 1, DT_STRING: the width and the height in decimal, then the
///          PNG.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/image/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value imageValue(std::string tag, int width, int height, std::string png,
                                        event::SummaryMetadata metadata = {},
                                        ValueForm form = ValueForm::kCompatible);
/// As above, for several images of one tag and step, which the page shows as its samples. They may
/// differ in size: browsers take it from the PNGs. One alone is made as above; more are a tensor.
///
/// @param width, height The size that the page shows: the largest of each.
STEPTAPE_EXPORT event::Value imageValue(std::string tag, int width, int height,
                                        std::vector<std::string> pngs,
                                        event::SummaryMetadata metadata = {},
                                        ValueForm form = ValueForm::kCompatible);

}  // namespace steptape
