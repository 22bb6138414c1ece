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

/// Reads a JPEG or PNG file, whichever its name says.
///
/// @param leastSide A JPEG may come smaller than it is, with no side shorter than this: its decoder
///                  then does only a part of the work.
/// @throws std::runtime_error naming the file if it cannot be read, or if this program was built
///         without a decoder for it.
/// @threads Thread-safe.
RgbImage decodeImage(const std::string& path, std::size_t leastSide);

/// Whether `path` has an ending that decodeImage() knows: .jpg, .jpeg or .png, in any case.
bool isImage(const std::string& path);

/// Takes the middle of an image, seven eighths of its shorter side, and scales it to a square, each
/// pixel the mean of those that it covers: what networks for ImageNet are tested with.
///
/// @param out `3 * size * size` bytes, plane by plane: red, green, blue.
void cropAndScale(const RgbImage& image, std::size_t size, std::uint8_t* out);
