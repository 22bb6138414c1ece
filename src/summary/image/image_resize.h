// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "summary/image/image.h"

namespace steptape::detail {

/// Scales an image to `width` x `height` pixels with a Lanczos filter of three lobes, widened where
/// the image shrinks, so that nothing aliases; rows first, then columns, rounded in between.
///
/// The pixels are those of Pillow's LANCZOS, which tensorboardX and torch use. (Pillow 13 takes the
/// columns of images that shrink and are twice as tall as wide first, which changes a few pixels.)
/// Colors are weighted with their alpha.
///
/// @cost   Some 6 multiplications a pixel, channel and direction; more where the image shrinks.
/// @source C. E. Duchon, "Lanczos Filtering in One and Two Dimensions", 1979.
Pixels resizeLanczos(Pixels image, int width, int height);

}  // namespace steptape::detail
