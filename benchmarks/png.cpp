// SPDX-License-Identifier: Apache-2.0
// Measures the cost of encodePng(), compared with libpng at its fastest level with the filter Sub.
//
//   png_benchmark [directory of the Fashion-MNIST files]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <png.h>
#include <random>
#include <string>
#include <vector>

#include "harness.h"
#include "values/kinds/image/image.h"

#include <zlib.h>

namespace {

using steptape::detail::values::Pixels;

Pixels blank(int width, int height, int channels, std::uint8_t value) {
  Pixels pixels{width, height, channels, {}};
  pixels.data.assign(static_cast<std::size_t>(width) * height * channels, value);
  return pixels;
}

/// Draws shapes with soft and hard edges, and sensor noise.
Pixels photograph() {
  Pixels pixels = blank(640, 480, 3, 0);
  std::mt19937 random(7);
  std::normal_distribution<double> grain(0, 2.5);
  std::size_t i = 0;
  for (int y = 0; y < pixels.height; ++y) {
    for (int x = 0; x < pixels.width; ++x) {
      const double gray = grain(random) + ((x / 100 + y / 80) % 2) * 30 * std::sin((x + y) / 13.0);
      for (int c = 0; c < 3; ++c) {
        const double color = 60 * std::sin(x / 90.0 + c) + 50 * std::cos(y / 70.0 - 0.7 * c);
        const double value = 128 + color + gray + 0.5 * grain(random);
        pixels.data[i++] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
      }
    }
  }
  return pixels;
}

/// Draws a curve, axes and rows of ticks on white.
Pixels plot() {
  Pixels pixels = blank(640, 480, 3, 255);
  const auto paint = [&](int x, int y, std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
    std::uint8_t* const pixel = &pixels.data[(static_cast<std::size_t>(y) * 640 + x) * 3];
    pixel[0] = red;
    pixel[1] = green;
    pixel[2] = blue;
  };
  for (int x = 40; x < 620; ++x) {
    const int y = static_cast<int>(240 + 150 * std::sin(x / 60.0));
    paint(x, y, 31, 119, 180);
    paint(x, y + 1, 31, 119, 180);
    paint(x, 460, 0, 0, 0);
    for (int tick = 0; tick < 6 && x % 58 == 0; ++tick) {
      paint(x, 460 + tick, 0, 0, 0);
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {  // as much detail as a title and labels have
    const auto gray = static_cast<std::uint8_t>(random());
    const int x = 60 + static_cast<int>(random() % 200);
    paint(x, 10 + static_cast<int>(random() % 12), gray, gray, gray);
  }
  return pixels;
}

/// Returns the first 1024 images of Fashion-MNIST in rows of 8; empty if the file does not exist.
Pixels clothes(const std::string& directory) {
  constexpr int kSide = 28;
  constexpr int kImages = 1024;
  constexpr std::size_t kHeader = 16;
  gzFile file = gzopen((directory + "/train-images-idx3-ubyte.gz").c_str(), "rb");
  if (file == nullptr) {
    return {};
  }
  std::vector<std::uint8_t> bytes(kHeader + std::size_t{kImages} * kSide * kSide);
  const int read = gzread(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  if (read != static_cast<int>(bytes.size())) {
    return {};
  }
  const std::vector<std::int64_t> shape = {kImages, kSide, kSide};
  return steptape::detail::values::imageGrid(steptape::TensorView(bytes.data() + kHeader, shape),
                                             "NHW");
}

int pngColor(int channels) {
  return channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB;
}

std::string encodeWithLibpng(const Pixels& pixels) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  const auto append = [](png_structp to, png_bytep bytes, png_size_t count) {
    static_cast<std::string*>(png_get_io_ptr(to))
        ->append(reinterpret_cast<const char*>(bytes), count);
  };
  png_set_write_fn(png, &out, append, [](png_structp) {});
  png_set_compression_level(png, 1);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
  png_set_IHDR(png, info, static_cast<png_uint_32>(pixels.width),
               static_cast<png_uint_32>(pixels.height), 8, pngColor(pixels.channels),
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const std::size_t rowBytes = static_cast<std::size_t>(pixels.width) * pixels.channels;
  for (int y = 0; y < pixels.height; ++y) {
    png_write_row(png, pixels.data.data() + y * rowBytes);
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return out;
}

template <typename Encode>
double nanosPerByte(const Pixels& pixels, Encode encode) {
  constexpr int kRepeats = 8;
  const double start = benchmark::cpuSeconds();
  for (int i = 0; i < kRepeats; ++i) {
    benchmark::keep(encode(pixels).data());
  }
  const double bytes = static_cast<double>(pixels.data.size()) * kRepeats;
  return (benchmark::cpuSeconds() - start) * 1e9 / bytes;
}

/// @param target The minimum speed, in multiples of libpng's.
void compare(const std::string& name, const Pixels& pixels, double target) {
  const auto libpng = [&] { return nanosPerByte(pixels, encodeWithLibpng); };
  const auto ours = [&] { return nanosPerByte(pixels, steptape::detail::values::encodePng); };
  const std::vector<benchmark::Variant> variants = {{"libpng, level 1, Sub", libpng},
                                                    {"the same again (A/A)", libpng},
                                                    {"steptape::encodePng", ours}};
  const auto costs = benchmark::takeTurns(variants, 21);
  benchmark::printTitle(name + ", CPU nanoseconds a byte of the pixels");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "ns");
  }
  benchmark::printControl("libpng / libpng again", benchmark::ratio(costs[0], costs[1]), 0.1);
  benchmark::printAtLeast("speed: libpng / steptape", benchmark::ratio(costs[0], costs[2]), target);
  const double size = static_cast<double>(steptape::detail::values::encodePng(pixels).size()) /
                      static_cast<double>(encodeWithLibpng(pixels).size());
  benchmark::printAtMost("size: steptape / libpng", {size, size, size}, 1);
}

}  // namespace

int main(int argc, char** argv) {
  compare("Like a photograph, 640 x 480, RGB", photograph(), 1.5);
  compare("Like a plot, 640 x 480, RGB", plot(), 0.95);
  const Pixels grid = clothes(argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist");
  if (grid.data.empty()) {
    std::puts("\nFashion-MNIST is not there: apt-get install dataset-fashion-mnist");
    return 0;
  }
  compare("1024 clothes of Fashion-MNIST, 224 x 3584, gray", grid, 1.5);
  return 0;
}
