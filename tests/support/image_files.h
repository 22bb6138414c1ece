// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <jpeglib.h>
#include <string>
#include <vector>

#include "steptape/train/samples.h"

namespace steptape::test {

/// Smooth colors that differ everywhere, and from number to number.
inline Image picture(std::int64_t width, std::int64_t height, int number = 0) {
  Image image{width, height, 3, {}};
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (const std::int64_t value :
           {3 * x + y + 90 * number, 2 * y + 70 * number, 400 - x + 4 * y + 50 * number}) {
        const std::int64_t wave = value % 512;
        image.pixels.push_back(static_cast<std::uint8_t>(wave < 256 ? wave : 511 - wave));
      }
    }
  }
  return image;
}

struct JpegStyle {
  int quality = 90;
  bool progressive = false;
  int verticalSampling = 2;  ///< Of the brightness, against the colors.
};

inline void writeJpeg(const std::string& path, const Image& image, JpegStyle style = {}) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  jpeg_error_mgr errors;
  jpeg_compress_struct info;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  jpeg_stdio_dest(&info, file);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = static_cast<int>(image.channels);
  info.in_color_space = image.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, style.quality, TRUE);
  info.comp_info[0].v_samp_factor = style.verticalSampling;
  if (style.progressive) {
    jpeg_simple_progression(&info);
  }
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<std::uint8_t*>(&image.pixels[static_cast<std::size_t>(image.channels) *
                                                        info.image_width * info.next_scanline]);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::fclose(file);
}

/// Writes `classes` x `perClass` JPEGs of different sizes in the layout of ImageFolder.
inline void writeImageFolder(const std::string& directory, int classes, int perClass) {
  for (int label = 0; label < classes; ++label) {
    for (int i = 0; i < perClass; ++i) {
      const int number = label * perClass + i;
      writeJpeg(directory + "/class" + std::to_string(label) + "/" + std::to_string(i) + ".jpg",
                picture(48 + number % 7, 40 + number % 5, number));
    }
  }
}

}  // namespace steptape::test
