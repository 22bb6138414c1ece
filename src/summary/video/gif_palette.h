// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steptape::detail {

/// Pixels as numbers of colors.
struct IndexedPixels {
  std::vector<std::array<std::uint8_t, 3>> palette;  ///< At most 256.
  std::vector<std::uint8_t> indices;
  int transparent = -1;  ///< The color that stands for nothing, or -1.
};

/// Finds 256 colors for pixels, exactly if there are no more; else by median cut of a histogram
/// with 32 steps a channel. Pixels of 4 channels are transparent where alpha is below 128.
///
/// @param pixels  `channels` bytes each, 1, 3 or 4.
/// @source P. Heckbert, "Color Image Quantization for Frame Buffer Display", 1982.
IndexedPixels quantize(const std::vector<std::uint8_t>& pixels, int channels);

}  // namespace steptape::detail
