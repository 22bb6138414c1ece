// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/values/tensor_view.h"
#include "steptape/values/value_options.h"

namespace steptape::detail::values {

/// The elements of a tensor that an image cannot show. Elements from -0.5 to 1.5 are clipped to
/// 0..1 without being counted: rounding and filters overshoot.
struct UnshownElements {
  std::uint64_t nans = 0;  ///< NaN, which is 0 in the image.
  float lowest = 0;        ///< The least floating-point element, if it is below -0.5.
  float highest = 0;       ///< The greatest floating-point element, if it is above 1.5.

  void add(const UnshownElements& other) {
    nans += other.nans;
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
  }
  void take(float element);
};

/// An image with 8 bits per channel that owns its pixels.
struct Pixels {
  int width = 0;
  int height = 0;
  int channels = 0;                ///< 1: gray, 3: RGB, 4: RGB and alpha.
  std::vector<std::uint8_t> data;  ///< Row by row, channels interleaved: (height, width, channels).
  UnshownElements unshown = {};    ///< Of the tensor.
};

/// Checks whether imagePixels() accepts a tensor, by its shape and element type alone, because the
/// elements may still be in flight.
///
/// @throws  Error(kInvalidArgument) with the invalid format, shape or element type, or for a size
///          that encodePng() does not accept.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkImage(const TensorView& image, std::string_view dataFormat);

/// Copies the pixels of a tensor.
///
/// NaN becomes 0 and is counted: an image of a diverging network must not end its training, and its
/// holes show the cause. Elements far outside 0..1 are counted too.
///
/// @param image      One image.
/// @param dataFormat Order of the dimensions: "CHW", "HWC", "HW" or any other order of these
///                   letters; without a 'C', the image is gray.
/// @shape   Three dimensions with 1, 3 or 4 channels, or two; none empty; any strides.
/// @units   uint8: 0..255, unchanged. Floating point: 0..1, times 255 in binary32, clamped to
///          0..255 and truncated to an integer. Bool: 0 and 255. Other integer types are an error,
///          because they have no common scale.
/// @throws  Error(kInvalidArgument) as checkImage().
/// @threads Thread-safe.
/// @cost    One pass and one allocation, 1 to 2 ns per element.
STEPTAPE_EXPORT Pixels imagePixels(const TensorView& image, std::string_view dataFormat);

/// Checks a batch for imageGrid(), like checkImage().
STEPTAPE_EXPORT void checkImageGrid(const TensorView& images, std::string_view dataFormat);

/// Copies a batch of images into one tiled image.
///
/// The tiles are arranged in rows of min(N, 8), without a gap. Missing tiles of the last row are
/// black, or transparent if there is an alpha channel, as in tensorboardX.
///
/// @param images     N images of one size.
/// @param dataFormat Order of the dimensions: "NCHW", "NHWC", "NHW" or any other order of these
///                   letters; without a 'C', the images are gray.
///
/// Units, errors, threads and cost are as for imagePixels().
STEPTAPE_EXPORT Pixels imageGrid(const TensorView& images, std::string_view dataFormat);

/// Compresses an image losslessly to a PNG file.
///
/// @throws  Error(kInvalidArgument) if the channels are not 1, 3 or 4, if a side is not positive,
///          or if `data` does not have width · height · channels bytes.
/// @threads Thread-safe.
/// @cost    About 9 ns per byte of a photograph and 2 ns per byte of a plot: 1.7 × and 1 × the
///          speed of libpng at its fastest level, with 0.86 × and 0.94 × of its file size
///          (benchmarks/png.cpp). This is far more than copying the pixels, so it is meant for a
///          background thread.
/// @source  PNG (Third Edition), W3C, https://www.w3.org/TR/png-3/; zlib.
STEPTAPE_EXPORT std::string encodePng(const Pixels& pixels);

/// Makes the value that TensorBoard's image page shows.
///
/// @param png      The encoded image, or an animation, of `width` x `height` pixels.
/// @param metadata Display name and description; this function sets plugin, content and data class.
/// @shape   kCompatible: a SummaryImage, with metadata only for a display name or description.
///          kTensor: a rank-1 DT_STRING tensor: the width and the height in decimal, then the PNG.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/image/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value imageValue(std::string tag, int width, int height, std::string png,
                                        event::SummaryMetadata metadata = {},
                                        ValueForm form = ValueForm::kCompatible);
/// Makes the value of several images with one tag and step, which the page shows as samples. Their
/// sizes may differ: browsers read the size from each PNG. A single image is made as above; several
/// are a tensor.
///
/// @param width, height The size that the page shows: the maximum of each.
STEPTAPE_EXPORT event::Value imageValue(std::string tag, int width, int height,
                                        std::vector<std::string> pngs,
                                        event::SummaryMetadata metadata = {},
                                        ValueForm form = ValueForm::kCompatible);

}  // namespace steptape::detail::values
