// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "values/kinds/video/video.h"

namespace steptape::detail::values {

/// A rectangle of pixels.
struct Area {
  int left;
  int top;
  int width;
  int height;
};

/// @throws Error(kInvalidArgument) as encodeApng().
void checkFrames(const Frames& frames, double fps);
/// @throws Error(kInvalidArgument) unless `fps` is from 0.01 to 1000.
void checkFps(double fps);

Area wholeArea(const Frames& frames);
/// Returns the smallest rectangle that holds every pixel in which frame `i` differs from the
/// previous frame; a single pixel if none differs.
Area changedArea(const Frames& frames, std::int64_t i);

/// Returns the first pixel of an area in frame `i`.
const std::uint8_t* areaPixels(const Frames& frames, std::int64_t i, const Area& area);
std::size_t rowBytes(const Frames& frames);

}  // namespace steptape::detail::values
