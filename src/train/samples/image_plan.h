// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/train/samples.h"

namespace steptape::detail::train {

struct Size {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

struct Rect {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
};

/// What one pass over an image does: crop it, resize the crop, cut a window out of the result, and
/// mirror that. Parts of the window outside of the result are black.
struct ImageStep {
  Rect crop;
  Size resized;
  Rect window;
  bool flip = false;
};

/// One step or more, each on the result of the one before. Most transforms are a single step, which
/// computes the pixels that the window shows and no others.
using ImagePlan = std::vector<ImageStep>;

/// @throws Error(kInvalidArgument) as transformImage().
STEPTAPE_EXPORT ImagePlan planImage(Size image, const ImageTransforms& transforms,
                                    SampleRandom& random);

/// Returns the size of every image that `transforms` make; width 0 if it depends on the image.
STEPTAPE_EXPORT Size plannedSize(const ImageTransforms& transforms);

}  // namespace steptape::detail::train
