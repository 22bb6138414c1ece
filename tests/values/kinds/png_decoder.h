// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <png.h>
#include <string>

#include "values/kinds/image/image.h"

#include <gtest/gtest.h>

namespace steptape {

inline int pngFormat(int channels) {
  return channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

/// Decodes with libpng, which checks every chunk's CRC and the compressed data's checksum.
inline detail::values::Pixels decodePng(const std::string& png) {
  png_image image;
  std::memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  detail::values::Pixels pixels;
  if (png_image_begin_read_from_memory(&image, png.data(), png.size()) == 0) {
    ADD_FAILURE() << image.message;
    return pixels;
  }
  pixels.width = static_cast<int>(image.width);
  pixels.height = static_cast<int>(image.height);
  pixels.channels = static_cast<int>(PNG_IMAGE_SAMPLE_CHANNELS(image.format));
  image.format = static_cast<png_uint_32>(pngFormat(pixels.channels));
  pixels.data.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, pixels.data.data(), 0, nullptr) == 0) {
    ADD_FAILURE() << image.message;
  }
  return pixels;
}

}  // namespace steptape
