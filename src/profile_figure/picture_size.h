// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "steptape/figure/plot_options.h"

namespace steptape::detail {

/// Of a picture that is legible before it is clicked: TensorBoard shows it some 350 pixels wide,
/// which makes letters of about 10 pixels of those of 9 points.
inline CanvasOptions canvasOfHeight(int height, std::string title) {
  CanvasOptions canvas;
  canvas.title = std::move(title);
  canvas.width = 700;
  canvas.height = height;
  canvas.dpi = 160;
  return canvas;
}

}  // namespace steptape::detail
