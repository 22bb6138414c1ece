// SPDX-License-Identifier: Apache-2.0
#include "image_decoder.h"

#include <algorithm>
#include <cctype>
#include <csetjmp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

#ifdef IMAGENET_BENCHMARK_WITH_JPEG
#include <jpeglib.h>
#endif
#ifdef IMAGENET_BENCHMARK_WITH_PNG
#include <png.h>
#endif

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("cannot read the image " + path + ": " + why);
}

std::string extensionOf(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return extension;
}

#ifdef IMAGENET_BENCHMARK_WITH_JPEG
/// libjpeg is C; after an error the only way out of it is a jump.
struct JpegErrors : jpeg_error_mgr {
  std::jmp_buf toCaller;
  char message[JMSG_LENGTH_MAX];
};

void leaveDecoder(j_common_ptr common) {
  auto* errors = static_cast<JpegErrors*>(common->err);
  errors->format_message(common, errors->message);
  std::longjmp(errors->toCaller, 1);
}

/// A few of ImageNet's files have the inverted CMYK that Adobe's programs write.
void cmykToRgb(const std::vector<std::uint8_t>& cmyk, std::uint8_t* rgb, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x) {
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[3 * x + c] = static_cast<std::uint8_t>(cmyk[4 * x + c] * cmyk[4 * x + 3] / 255);
    }
  }
}

void readRows(jpeg_decompress_struct& info, RgbImage& image, std::vector<std::uint8_t>& cmyk) {
  while (info.output_scanline < info.output_height) {
    std::uint8_t* rgb = &image.pixels[3 * image.width * info.output_scanline];
    JSAMPROW row = cmyk.empty() ? rgb : cmyk.data();
    jpeg_read_scanlines(&info, &row, 1);
    if (!cmyk.empty()) {
      cmykToRgb(cmyk, rgb, image.width);
    }
  }
}

/// @param image,cmyk Owned by the caller, because the jump would not destroy local variables.
/// @return whether the image was read; if not, `errors.message` is the reason.
bool decodeJpeg(std::FILE* file, std::size_t leastSide, RgbImage& image,
                std::vector<std::uint8_t>& cmyk, JpegErrors& errors) {
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&errors);
  errors.error_exit = leaveDecoder;
  errors.output_message = [](j_common_ptr) {};  // Slightly invalid files are common.
  jpeg_create_decompress(&info);
  if (setjmp(errors.toCaller) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_stdio_src(&info, file);
  jpeg_read_header(&info, TRUE);
  const bool isCmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = isCmyk ? JCS_CMYK : JCS_RGB;
  while (info.scale_denom < 8 &&
         std::min(info.image_width, info.image_height) / (2 * info.scale_denom) >= leastSide) {
    info.scale_denom *= 2;
  }
  jpeg_start_decompress(&info);
  image.width = info.output_width;
  image.height = info.output_height;
  image.pixels.resize(3 * image.width * image.height);
  cmyk.resize(isCmyk ? 4 * image.width : 0);
  readRows(info, image, cmyk);
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}
#endif

RgbImage readJpeg(const std::string& path, std::size_t leastSide) {
#ifdef IMAGENET_BENCHMARK_WITH_JPEG
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) {
    fail(path, "it cannot be opened");
  }
  RgbImage image;
  std::vector<std::uint8_t> cmyk;
  JpegErrors errors;
  if (!decodeJpeg(file.get(), leastSide, image, cmyk, errors)) {
    fail(path, errors.message);
  }
  return image;
#else
  static_cast<void>(leastSide);
  fail(path, "this program was built without libjpeg");
#endif
}

RgbImage readPng(const std::string& path) {
#ifdef IMAGENET_BENCHMARK_WITH_PNG
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&png, path.c_str()) == 0) {
    fail(path, png.message);
  }
  png.format = PNG_FORMAT_RGB;
  RgbImage image{png.width, png.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(png))};
  const png_color white{255, 255, 255};  // The background of transparent pixels.
  if (png_image_finish_read(&png, &white, image.pixels.data(), 0, nullptr) == 0) {
    fail(path, png.message);
  }
  return image;
#else
  fail(path, "this program was built without libpng");
#endif
}

}  // namespace

bool isImage(const std::string& path) {
  const std::string extension = extensionOf(path);
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

RgbImage decodeImage(const std::string& path, std::size_t leastSide) {
  return extensionOf(path) == ".png" ? readPng(path) : readJpeg(path, leastSide);
}

void cropAndScale(const RgbImage& image, std::size_t size, std::uint8_t* out) {
  const std::size_t side = std::max<std::size_t>(1, std::min(image.width, image.height) * 7 / 8);
  const std::size_t left = (image.width - side) / 2;
  const std::size_t top = (image.height - side) / 2;
  // Pixel i covers the pixels [from(i), to(i)) of the crop; at least one if the crop is enlarged.
  const auto from = [&](std::size_t i) { return i * side / size; };
  const auto to = [&](std::size_t i) { return std::max((i + 1) * side / size, from(i) + 1); };
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) {
      std::size_t sums[3] = {};
      for (std::size_t v = from(y); v < to(y); ++v) {
        const std::uint8_t* row = &image.pixels[3 * ((top + v) * image.width + left)];
        for (std::size_t u = from(x); u < to(x); ++u) {
          for (std::size_t c = 0; c < 3; ++c) {
            sums[c] += row[3 * u + c];
          }
        }
      }
      const std::size_t count = (to(y) - from(y)) * (to(x) - from(x));
      for (std::size_t c = 0; c < 3; ++c) {
        out[(c * size + y) * size + x] = static_cast<std::uint8_t>((sums[c] + count / 2) / count);
      }
    }
  }
}
