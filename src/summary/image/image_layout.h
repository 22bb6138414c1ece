// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "steptape/summary/tensor_view.h"

#include "summary/tensor/strided.h"

namespace steptape::detail {

/// A batch of still or moving pictures, whatever the order of its dimensions. What a tensor has no
/// dimension for has the size 1.
struct ImageLayout {
  Dimension images{1, 0};
  Dimension frames{1, 0};
  Dimension rows{1, 0};
  Dimension columns{1, 0};
  Dimension channels{1, 0};
};

/// Which letters a call's dataFormat has.
struct ImageFormat {
  std::string_view required;
  std::string_view optional;
  std::string_view expected;  ///< Both, in the words of error messages.
};

/// @throws Error(kInvalidArgument) naming the format, shape, channels or element type that does not
///         fit. Reads no elements.
ImageLayout imageLayout(const TensorView& view, std::string_view format, const ImageFormat& rules);

/// Tiles, row by row.
struct TileGrid {
  std::int64_t columns;
  std::int64_t rows;
};

/// Copies the tiles of one frame to a picture of 8 bits a channel, NaN as 0.
///
/// @param to The first row of the picture, of grid.columns tiles; uncovered pixels stay unchanged.
/// @return   How many elements were NaN.
std::uint64_t copyTiles(const TensorView& view, const ImageLayout& layout, std::int64_t frame,
                        const TileGrid& grid, std::uint8_t* to);

}  // namespace steptape::detail
