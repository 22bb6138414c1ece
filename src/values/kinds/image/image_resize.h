// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "values/kinds/image/image.h"

namespace steptape::detail::values {

/// Scales an image to `width` x `height` pixels with a Lanczos filter of three lobes. When
/// shrinking, the filter is wider to avoid aliasing. Scales rows first, then columns, and rounds in
/// between.
///
/// The pixels equal those of Pillow's LANCZOS, which tensorboardX and torch use. (Pillow 13 scales
/// columns first if the image shrinks and is twice as tall as wide, which changes a few pixels.)
/// Colors are weighted with their alpha.
///
/// @cost   About 6 multiplications per pixel, channel and direction; more when shrinking.
/// @source C. E. Duchon, "Lanczos Filtering in One and Two Dimensions", 1979.
Pixels resizeLanczos(Pixels image, int width, int height);

}  // namespace steptape::detail::values
