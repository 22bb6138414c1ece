// SPDX-License-Identifier: Apache-2.0
// Pillow 13.0.0 with libjpeg-turbo 3.2.0 made these images, and decoded the colors to expect.
// tests/interop/images_test.py compares other kinds with the Pillow that is installed.
//
//   halves.jpg, halves.png   24 x 16, the left half (200, 40, 60), the right half (30, 60, 180)
//   gray.jpg                 8 x 8, one channel, 77
//   cmyk.jpg                 8 x 8, Adobe's inverted CMYK of (100, 150, 200)
//   plain.jpg                64 x 64, (90, 120, 150)
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "steptape/ranks/testing.h"
#include <steptape/images.h>

#include "support/content_of.h"
#include "support/expect_error.h"
#include "support/image_files.h"
#include "train/images/image_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::contentOf;
using test::expectError;
using test::JpegStyle;
using test::picture;
using test::writeJpeg;
using ::testing::HasSubstr;

std::string given(const std::string& name) {
  return STEPTAPE_TEST_IMAGES "/" + name;
}

void expectColor(const Image& image, std::int64_t x, std::int64_t y, std::array<int, 3> color) {
  const auto* rgb = &image.pixels.at(static_cast<std::size_t>(3 * (y * image.width + x)));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(rgb[i], color[i], 1) << x << ", " << y << ", channel " << i;
  }
}

class ImageFiles : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (dir_.path() / name).string(); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  testing::TempDir dir_;
};

TEST(DecodeImage, ReadsTheSameColorsFromJpegAndPng) {
  for (const char* name : {"halves.jpg", "halves.png"}) {
    const Image image = decodeImage(given(name));
    ASSERT_EQ(image.width, 24) << name;
    ASSERT_EQ(image.height, 16) << name;
    expectColor(image, 0, 0, {200, 40, 60});
    expectColor(image, 11, 15, {200, 40, 60});
    expectColor(image, 12, 0, {30, 60, 180});
    expectColor(image, 23, 15, {30, 60, 180});
  }
}

TEST(DecodeImage, ConvertsGrayAndInvertedCmykToRgb) {
  expectColor(decodeImage(given("gray.jpg")), 3, 3, {77, 77, 77});
  expectColor(decodeImage(given("cmyk.jpg")), 3, 3, {100, 150, 200});
}

TEST_F(ImageFiles, AreRecognizedByTheirContent) {
  std::filesystem::copy_file(given("halves.png"), path("png.jpg"));
  expectColor(decodeImage(path("png.jpg")), 0, 0, {200, 40, 60});
}

/// Decodes `crop` as a transform of one size would.
std::vector<std::uint8_t> decodedCrop(const std::string& path, detail::train::Rect crop) {
  std::vector<std::uint8_t> pixels;
  detail::train::readImage(
      path, {},
      [&](detail::train::Size) {
        return detail::train::ImagePlan{
            {crop, {crop.width, crop.height}, {0, 0, crop.width, crop.height}, false}};
      },
      [&](const detail::train::DecodedPart& part, const detail::train::ImagePlan& plan) {
        pixels = detail::train::runPlan(part.view, part.box, plan).pixels;
      });
  return pixels;
}

std::vector<std::uint8_t> cropOf(const Image& image, detail::train::Rect crop) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = crop.y; y < crop.y + crop.height; ++y) {
    const auto row = image.pixels.begin() + 3 * (y * image.width + crop.x);
    pixels.insert(pixels.end(), row, row + 3 * crop.width);
  }
  return pixels;
}

TEST_F(ImageFiles, GiveTheSamePixelsInPartAndWhole) {
  for (const bool progressive : {false, true}) {
    for (const int sampling : {1, 2}) {
      JpegStyle style;
      style.progressive = progressive;
      style.verticalSampling = sampling;
      writeJpeg(path("whole.jpg"), picture(151, 113), style);
      const Image whole = decodeImage(path("whole.jpg"));
      SampleRandom random(0, 0, 0);
      for (int i = 0; i < 60; ++i) {
        const std::int64_t width = 1 + random.below(whole.width);
        const std::int64_t height = 1 + random.below(whole.height);
        const detail::train::Rect crop{random.below(whole.width - width + 1),
                                       random.below(whole.height - height + 1), width, height};
        EXPECT_EQ(decodedCrop(path("whole.jpg"), crop), cropOf(whole, crop))
            << crop.x << ", " << crop.y << ", " << width << " x " << height << ", progressive "
            << progressive << ", sampling " << sampling;
      }
    }
  }
  const Image whole = decodeImage(given("halves.png"));
  const detail::train::Rect crop{5, 3, 9, 7};
  EXPECT_EQ(decodedCrop(given("halves.png"), crop), cropOf(whole, crop));
}

TEST_F(ImageFiles, AreDecodedAtTheSmallestSufficientSize) {
  const auto decodedWidth = [](std::int64_t least) {
    std::int64_t width = 0;
    detail::train::readImage(
        given("plain.jpg"), {},
        [&](detail::train::Size size) {
          return detail::train::ImagePlan{
              {{0, 0, size.width, size.height}, {least, least}, {0, 0, least, least}, false}};
        },
        [&](const detail::train::DecodedPart& part, const detail::train::ImagePlan& plan) {
          width = part.view.size.width;
          expectColor(detail::train::runPlan(part.view, part.box, plan), least - 1, least - 1,
                      {90, 120, 150});
        });
    return width;
  };
  EXPECT_EQ(decodedWidth(64), 64);
  EXPECT_EQ(decodedWidth(33), 64);
  EXPECT_EQ(decodedWidth(32), 32);
  EXPECT_EQ(decodedWidth(9), 16);
  EXPECT_EQ(decodedWidth(1), 8);
}

TEST_F(ImageFiles, LookTheSameIfDecodedSmall) {
  writeJpeg(path("large.jpg"), picture(800, 600));
  const Image whole = decodeImage(path("large.jpg"));
  SampleRandom unused(0, 0, 0);
  const ImageTransforms transforms{Resize{64}, CenterCrop{60}};
  const Image expected = transformImage(whole, transforms, unused);
  detail::train::readImage(
      path("large.jpg"), {},
      [&](detail::train::Size size) { return detail::train::planImage(size, transforms, unused); },
      [&](const detail::train::DecodedPart& part, const detail::train::ImagePlan& plan) {
        EXPECT_EQ(part.view.size.width, 100);
        const Image image = detail::train::runPlan(part.view, part.box, plan);
        double difference = 0;
        for (std::size_t i = 0; i < image.pixels.size(); ++i) {
          difference += std::abs(image.pixels[i] - expected.pixels[i]);
        }
        // Pixels that lie half a pixel beside their place make it 12.
        EXPECT_LT(difference / static_cast<double>(image.pixels.size()), 2);
      });
}

TEST_F(ImageFiles, AreNamedIfTheyCannotBeRead) {
  const std::string missing = path("missing.jpg");
  expectError(ErrorCode::kIoError,
              "image \"" + missing + "\": cannot open it: No such file or directory",
              [&] { decodeImage(missing); });
  expectError(ErrorCode::kIoError, "image \"" + dir_.string() + "\": it is not a regular file",
              [&] { decodeImage(dir_.string()); });
  ASSERT_EQ(::mkfifo(path("pipe.jpg").c_str(), 0600), 0);
  expectError(ErrorCode::kIoError, "pipe.jpg\": it is not a regular file",
              [&] { decodeImage(path("pipe.jpg")); });
  expectError(ErrorCode::kDataLoss,
              "text.jpg\": got a file that begins with \"no image\"; expected a JPEG or PNG file",
              [&] { decodeImage(write("text.jpg", "no image at all")); });
  expectError(ErrorCode::kDataLoss, "empty.png\": got an empty file; expected a JPEG or PNG file",
              [&] { decodeImage(write("empty.png", "")); });
}

TEST_F(ImageFiles, AreNamedIfTheyEndEarly) {
  writeJpeg(path("whole.jpg"), picture(64, 64));
  JpegStyle progressive;
  progressive.progressive = true;
  writeJpeg(path("progressive.jpg"), picture(64, 64), progressive);
  for (const std::string& file :
       {path("whole.jpg"), path("progressive.jpg"), given("cmyk.jpg"), given("halves.png")}) {
    const std::string bytes = contentOf(file);
    decodeImage(file);
    // The last bytes of a PNG hold no pixels.
    for (std::size_t size = 4; size + 16 < bytes.size(); size += 41) {
      const std::string cut = write("cut", bytes.substr(0, size));
      expectError(ErrorCode::kDataLoss,
                  "image \"" + cut + "\": damaged: ", [&] { decodeImage(cut); });
    }
  }
}

TEST_F(ImageFiles, NeitherCrashNorHangWithAChangedByte) {
  writeJpeg(path("small.jpg"), picture(24, 24));
  for (const std::string& file : {path("small.jpg"), given("halves.png"), given("cmyk.jpg")}) {
    const std::string bytes = contentOf(file);
    for (std::size_t i = 0; i < bytes.size(); i += 11) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 0x55);
      const std::string changedFile = write("changed", changed);
      try {
        DecodeOptions options;
        options.maxPixels = 1 << 12;
        decodeImage(changedFile, options);
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(changedFile));
      }
    }
  }
}

TEST_F(ImageFiles, MayNotStateMorePixelsThanAllowed) {
  // A header without pixels, of 65500 x 65500.
  writeJpeg(path("small.jpg"), picture(8, 8));
  std::string jpeg = contentOf(path("small.jpg"));
  const std::size_t frame = jpeg.find("\xff\xc0");
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  expectError(ErrorCode::kResourceExhausted,
              "got 65500 x 65500 pixels; expected at most 67108864 in all",
              [&] { decodeImage(write("huge.jpg", jpeg)); });

  DecodeOptions options;
  options.maxPixels = 24 * 16;
  decodeImage(given("halves.png"), options);
  --options.maxPixels;
  expectError(ErrorCode::kResourceExhausted, "got 24 x 16 pixels; expected at most 383 in all",
              [&] { decodeImage(given("halves.png"), options); });

  const std::string large = write("large.jpg", "\xff\xd8");
  std::filesystem::resize_file(large, std::uintmax_t{1} << 40);  // Of no blocks.
  expectError(ErrorCode::kResourceExhausted, "got 1099511627776 bytes; expected at most ",
              [&] { decodeImage(large); });
}

}  // namespace
}  // namespace steptape
