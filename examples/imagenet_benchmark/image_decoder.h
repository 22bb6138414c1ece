// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// An image in memory: rows from the top, three bytes (red, green, blue) per pixel.
struct RgbImage {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> pixels;
};

/// Reads a JPEG or PNG file; the extension of its name selects the format.
///
/// @param leastSide A JPEG may be decoded at a reduced size, which is faster. No side of the result
///                  is shorter than this unless the image itself is.
/// @throws std::runtime_error naming the file if it cannot be read, or if this program was built
///         without a decoder for it.
/// @threads Thread-safe.
RgbImage decodeImage(const std::string& path, std::size_t leastSide);

/// Whether decodeImage() knows the extension of `path`: .jpg, .jpeg or .png, in upper or lower
/// case.
bool isImage(const std::string& path);

/// Crops the center of an image, 7/8 of its shorter side, and scales it to a square. Each pixel is
/// the mean of the pixels that it covers. Networks for ImageNet are tested with such crops.
///
/// @param out `3 * size * size` bytes, plane by plane: red, green, blue.
void cropAndScale(const RgbImage& image, std::size_t size, std::uint8_t* out);
