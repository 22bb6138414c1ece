// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"

#include "summary/image/image.h"

namespace steptape {

/// Left, top, right and bottom of a box in pixels.
using BoxCorners = std::array<double, 4>;

/// Says whether an image, boxes and options go together, by shapes and element types alone: the
/// elements may still be in flight.
///
/// @throws  Error(kInvalidArgument) as checkImage(), or if the boxes are not (N, 4), the labels or
///          colors are not as many as they must be, or `rescale` is not positive or makes an image
///          without pixels or one that encodePng() does not take.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkBoxes(const TensorView& image, const TensorView& boxes,
                                const BoxOptions& options);

/// Copies boxes out.
///
/// @param boxes (N, 4), rows of left, top, right, bottom; any element type and strides.
/// @throws  Error(kInvalidArgument) for another shape, and for a coordinate that is NaN or
///          infinite, naming its box.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<BoxCorners> boxCorners(const TensorView& boxes);

/// Draws boxes and labels into an image, then scales it.
///
/// Lines are two pixels wide and lie where tensorboardX and torch draw them, pixel by pixel: a
/// coordinate is cut to an integer, the left edge goes to the right of it, the top edge above it,
/// and so on round. What lies outside the image is clipped. A label stands in a filled field of
/// the box's color above its bottom edge, in black, or in white where that reads better; the font
/// is fixed, and shows a hollow box for what is not ASCII. Scaling is Pillow's LANCZOS.
///
/// @param image A gray image becomes RGB.
/// @param boxes Later ones cover earlier ones.
/// @throws  Error(kInvalidArgument) as checkBoxes() does for numbers of labels and colors and for
///          `rescale`.
/// @threads Thread-safe.
/// @cost    A few ns a pixel of the lines; with another scale than 1, 20 to 50 ns a pixel of the
///          result. Meant for a background thread.
STEPTAPE_EXPORT Pixels drawBoxes(Pixels image, const std::vector<BoxCorners>& boxes,
                                 const BoxOptions& options = {});

}  // namespace steptape
