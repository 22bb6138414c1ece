// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "steptape/values/figure.h"

namespace steptape::detail::profile {

/// Returns options for a figure that is legible in TensorBoard's default size of about 350 pixels,
/// which makes letters of about 10 pixels of 9 points.
inline CanvasOptions canvasOfHeight(int height, std::string title) {
  CanvasOptions canvas;
  canvas.title = std::move(title);
  canvas.width = 700;
  canvas.height = height;
  canvas.dpi = 160;
  return canvas;
}

}  // namespace steptape::detail::profile
