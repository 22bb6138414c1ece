// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/export.h"
#include "steptape/values/tensor_view.h"

namespace steptape::detail::values {

/// The arrangement of thumbnails on a sprite.
struct SpriteGrid {
  std::int64_t images;
  std::int64_t cell;  ///< Pixels per side of one thumbnail's square.
  std::int64_t imagesPerRow;
  std::int64_t side() const { return cell * imagesPerRow; }
};

/// Returns the grid for images of this shape and type.
/// @throws Error(kInvalidArgument) as spritePixels().
STEPTAPE_EXPORT SpriteGrid spriteGrid(const TensorView& images);

}  // namespace steptape::detail::values
