// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "steptape/base/export.h"

#include "train/samples/byte_scaling.h"
#include "train/samples/image_plan.h"

namespace steptape::detail::train {

/// Pixels of one byte or three, owned by someone else.
struct PixelView {
  const std::uint8_t* pixels = nullptr;
  Size size;
  std::int64_t channels = 3;
  std::int64_t rowBytes = 0;  ///< From a row to the next.

  const std::uint8_t* row(std::int64_t y) const { return pixels + y * rowBytes; }
  PixelView part(const Rect& rect) const {
    return {row(rect.y) + rect.x * channels, {rect.width, rect.height}, channels, rowBytes};
  }
};

/// A part of an image, with borders anywhere in its pixels.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// Takes the rows of an image, from the top.
using RowSink = std::function<void(std::int64_t y, const std::uint8_t* row)>;

/// Returns the box of all pixels.
STEPTAPE_EXPORT Box boxOf(Size size);

/// Resizes `box` of `source` to `step.resized`, and gives the rows of `step.window` to `sink`.
///
/// Bilinear with antialiasing, in the fixed-point arithmetic of Pillow: equal bytes if `box` is all
/// of `source`.
STEPTAPE_EXPORT void resample(const PixelView& source, const Box& box, const ImageStep& step,
                              const RowSink& sink);

/// Writes the image that `plan` makes to `result`, normalized, channel by channel.
///
/// @param crop The pixels that hold the crop of the first step.
/// @param box  Which part of them is the crop.
STEPTAPE_EXPORT void runPlan(const PixelView& crop, const Box& box, const ImagePlan& plan,
                             const ByteScale& scale, float* result);

/// As above, as bytes.
STEPTAPE_EXPORT Image runPlan(const PixelView& crop, const Box& box, const ImagePlan& plan);

}  // namespace steptape::detail::train
