// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "steptape/values/tensor_view.h"

#include "values/kinds/image/image.h"
#include "values/kinds/tensor/strided.h"

namespace steptape::detail::values {

/// The layout of a batch of images or videos, whatever the order of its dimensions. A dimension
/// that the tensor does not have is of size 1.
struct ImageLayout {
  Dimension images{1, 0};
  Dimension frames{1, 0};
  Dimension rows{1, 0};
  Dimension columns{1, 0};
  Dimension channels{1, 0};
};

/// The letters of a call's dataFormat.
struct ImageFormat {
  std::string_view required;
  std::string_view optional;
  std::string_view expected;  ///< Description of both for error messages.
};

/// Reads no elements.
/// @throws Error(kInvalidArgument) with the invalid format, shape, channels or element type.
ImageLayout imageLayout(const TensorView& view, std::string_view format, const ImageFormat& rules);

/// The arrangement of tiles in rows.
struct TileGrid {
  std::int64_t columns;
  std::int64_t rows;
};

/// Copies the tiles of one frame to an image with 8 bits per channel; NaN becomes 0.
///
/// @param to The first row of the image, which has grid.columns tiles; uncovered pixels stay
///           unchanged.
/// @return   the elements that the image cannot show.
UnshownElements copyTiles(const TensorView& view, const ImageLayout& layout, std::int64_t frame,
                          const TileGrid& grid, std::uint8_t* to);

}  // namespace steptape::detail::values
