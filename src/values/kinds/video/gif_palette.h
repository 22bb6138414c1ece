// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steptape::detail::values {

/// Pixels as color numbers.
struct IndexedPixels {
  std::vector<std::array<std::uint8_t, 3>> palette;  ///< At most 256 colors.
  std::vector<std::uint8_t> indices;
  int transparent = -1;  ///< The transparent color's number, or -1.
};

/// Chooses up to 256 colors for pixels: exactly the pixels' colors if there are no more, else by
/// median cut of a histogram with 32 steps per channel. Pixels of 4 channels are transparent if
/// alpha is below 128.
///
/// @param pixels `channels` bytes per pixel: 1, 3 or 4.
/// @source P. Heckbert, "Color Image Quantization for Frame Buffer Display", 1982.
IndexedPixels quantize(const std::vector<std::uint8_t>& pixels, int channels);

}  // namespace steptape::detail::values
