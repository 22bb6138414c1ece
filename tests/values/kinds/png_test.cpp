// SPDX-License-Identifier: Apache-2.0
#include <png.h>
#include <random>
#include <string_view>
#include <tuple>

#include "support/expect_error.h"
#include "values/kinds/image/image.h"
#include "values/kinds/png_decoder.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;

void expectRoundTrip(const detail::values::Pixels& pixels) {
  const detail::values::Pixels decoded = decodePng(detail::values::encodePng(pixels));
  EXPECT_EQ(decoded.width, pixels.width);
  EXPECT_EQ(decoded.height, pixels.height);
  EXPECT_EQ(decoded.channels, pixels.channels);
  EXPECT_TRUE(decoded.data == pixels.data) << "the pixels differ";
}

detail::values::Pixels blank(int width, int height, int channels) {
  detail::values::Pixels pixels{width, height, channels, {}};
  pixels.data.resize(static_cast<std::size_t>(width) * height * channels);
  return pixels;
}

detail::values::Pixels noise(int width, int height, int channels) {
  detail::values::Pixels pixels = blank(width, height, channels);
  std::mt19937 random(7);
  for (std::uint8_t& byte : pixels.data) {
    byte = static_cast<std::uint8_t>(random());
  }
  return pixels;
}

/// Returns a smooth image with a little noise, for which every filter but None is best somewhere.
detail::values::Pixels photo(int width, int height, int channels) {
  detail::values::Pixels pixels = blank(width, height, channels);
  std::mt19937 random(7);
  std::size_t i = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        pixels.data[i++] = static_cast<std::uint8_t>(x * (c + 1) / 3 + y * y / 40 + random() % 3);
      }
    }
  }
  return pixels;
}

/// Returns an image with few colors in columns, rows and blocks, for which None, Sub and Up are
/// best.
detail::values::Pixels chart(int width, int height, int channels) {
  detail::values::Pixels pixels = blank(width, height, channels);
  std::size_t i = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        pixels.data[i++] = static_cast<std::uint8_t>(y < height / 2 ? x * 97 : x / 8 % 2 * 255);
      }
    }
  }
  return pixels;
}

/// Returns the size of libpng's file at its fastest level with the filter Sub.
std::size_t libpngSize(const detail::values::Pixels& pixels) {
  std::size_t size = 0;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &size,
      [](png_structp to, png_bytep, png_size_t count) {
        *static_cast<std::size_t*>(png_get_io_ptr(to)) += count;
      },
      [](png_structp) {});
  png_set_compression_level(png, 1);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
  png_set_IHDR(png, info, static_cast<png_uint_32>(pixels.width),
               static_cast<png_uint_32>(pixels.height), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int y = 0; y < pixels.height; ++y) {
    png_write_row(png, pixels.data.data() + static_cast<std::size_t>(y) * pixels.width * 3);
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return size;
}

class PngRoundTrip : public ::testing::TestWithParam<std::tuple<int, std::pair<int, int>>> {
 protected:
  int channels() const { return std::get<0>(GetParam()); }
  int width() const { return std::get<1>(GetParam()).first; }
  int height() const { return std::get<1>(GetParam()).second; }
};

TEST_P(PngRoundTrip, KeepsNoise) {
  expectRoundTrip(noise(width(), height(), channels()));
}
TEST_P(PngRoundTrip, KeepsAPhoto) {
  expectRoundTrip(photo(width(), height(), channels()));
}
TEST_P(PngRoundTrip, KeepsAChart) {
  expectRoundTrip(chart(width(), height(), channels()));
}
TEST_P(PngRoundTrip, KeepsBlack) {
  expectRoundTrip(blank(width(), height(), channels()));
}

INSTANTIATE_TEST_SUITE_P(AllChannelsAndShapes, PngRoundTrip,
                         ::testing::Combine(::testing::Values(1, 3, 4),
                                            ::testing::Values(std::pair(1, 1), std::pair(1, 77),
                                                              std::pair(77, 1), std::pair(7, 5),
                                                              std::pair(28, 28), std::pair(5000, 3),
                                                              std::pair(301, 199))));

TEST(EncodePng, BeginsWithTheSignatureAndEndsWithTheEndChunk) {
  using namespace std::string_view_literals;
  const std::string png = detail::values::encodePng(blank(2, 1, 1));
  // The first 33 bytes of any 2 x 1 gray PNG: PNG (Third Edition) 5.2 and 11.2.1; CRC by libpng.
  EXPECT_EQ(png.substr(0, 29), "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x01\x08\0\0\0\0"sv);
  EXPECT_EQ(png.substr(png.size() - 12), "\0\0\0\0IEND\xae\x42\x60\x82"sv);
}

TEST(EncodePng, MakesSmoothImagesSmall) {
  const detail::values::Pixels pixels = photo(256, 256, 3);
  EXPECT_LT(detail::values::encodePng(pixels).size(), pixels.data.size() / 2);
  const detail::values::Pixels flat = chart(256, 256, 3);
  EXPECT_LT(detail::values::encodePng(flat).size(), flat.data.size() / 20);
}

TEST(EncodePng, MakesPhotographsNoLargerThanLibpngAtItsFastestLevel) {
  const detail::values::Pixels photograph = photo(256, 256, 3);
  EXPECT_LE(detail::values::encodePng(photograph).size(), libpngSize(photograph));
}

TEST(EncodePng, HardlyGrowsNoise) {
  const detail::values::Pixels pixels = noise(256, 256, 3);
  EXPECT_LT(detail::values::encodePng(pixels).size(), pixels.data.size() * 101 / 100);
}

TEST(EncodePng, RejectsTwoChannels) {
  expectInvalidArgument(
      [] { detail::values::encodePng(blank(2, 3, 2)); },
      "PNG: got an image of 2 x 3 pixels with 2 channels; expected 1, 3 or 4 channels");
}

TEST(EncodePng, RejectsAnEmptySide) {
  expectInvalidArgument(
      [] {
        detail::values::encodePng(detail::values::Pixels{0, 3, 1, {}});
      },
      "PNG: got an image of 0 x 3 pixels with 1 channels; expected positive sides");
}

TEST(EncodePng, RejectsAnotherNumberOfBytes) {
  expectInvalidArgument(
      [] {
        detail::values::encodePng(detail::values::Pixels{2, 2, 1, {1, 2, 3}});
      },
      "PNG: got 3 bytes for an image of 2 x 2 pixels with 1 channels; expected 4");
}

TEST(EncodePng, RejectsMoreThanAGibibyte) {
  expectInvalidArgument(
      [] {
        detail::values::encodePng(detail::values::Pixels{1 << 15, 1 << 15, 4, {}});
      },
      "PNG: got an image of 32768 x 32768 pixels with 4 channels; expected at most 1 GiB");
}

}  // namespace
}  // namespace steptape
