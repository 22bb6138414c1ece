// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/values/tensor_view.h"
#include "steptape/values/value_options.h"

#include "values/kinds/image/image.h"

namespace steptape::detail::values {

/// Left, top, right and bottom of a box in pixels.
using BoxCorners = std::array<double, 4>;

/// Checks an image, boxes and options by shapes and element types alone, because the elements may
/// still be in flight.
///
/// @throws  Error(kInvalidArgument) as checkImage(); if the boxes are not (N, 4); if the number of
///          labels or colors is wrong; or if `rescale` is not positive or gives an image without
///          pixels or one that encodePng() does not accept.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkBoxes(const TensorView& image, const TensorView& boxes,
                                const BoxOptions& options);

/// Copies boxes from a tensor.
///
/// @param boxes (N, 4), rows of left, top, right, bottom; any element type and strides.
/// @throws  Error(kInvalidArgument) for another shape, or with the first box that has a NaN or
///          infinite coordinate.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<BoxCorners> boxCorners(const TensorView& boxes);

/// Draws boxes and labels into an image, then scales it.
///
/// Lines are two pixels wide and equal those of tensorboardX and torch pixel by pixel: a coordinate
/// is truncated to an integer; the left edge is to the right of it, the top edge above it, and so
/// on around the box. Everything outside the image is clipped. A label is above the bottom edge of
/// its box, in a field filled with the box's color, in black or in white, whichever has more
/// contrast. The font has a fixed width and shows a hollow box for characters outside ASCII.
/// Scaling is Pillow's LANCZOS.
///
/// @param image A gray image becomes RGB.
/// @param boxes Later boxes cover earlier ones.
/// @throws  Error(kInvalidArgument) as checkBoxes() for the number of labels or colors and for
///          `rescale`.
/// @threads Thread-safe.
/// @cost    A few ns per pixel of the lines; if scaled, 20 to 50 ns per pixel of the result. Meant
///          for a background thread.
STEPTAPE_EXPORT Pixels drawBoxes(Pixels image, const std::vector<BoxCorners>& boxes,
                                 const BoxOptions& options = {});

}  // namespace steptape::detail::values
