// SPDX-License-Identifier: Apache-2.0
// The decoder of imagenet_benchmark. Pillow 13.0.0 with libjpeg-turbo 3.2.0 made the images, and
// decoded the colors to expect:
//
//   halves.jpg, halves.png   24 x 16, the left half (200, 40, 60), the right half (30, 60, 180)
//   gray.jpg                 8 x 8, one channel, 77
//   cmyk.jpg                 8 x 8, Adobe's inverted CMYK of (100, 150, 200)
//   plain.jpg                64 x 64, (90, 120, 150)
#include "image_decoder.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "steptape/testing/temp_dir.h"

#include "image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kWhole = 1000;

std::string imagePath(const std::string& name) {
  return STEPTAPE_EXAMPLE_IMAGES "/" + name;
}

std::array<int, 3> pixel(const RgbImage& image, std::size_t x, std::size_t y) {
  const std::uint8_t* rgb = &image.pixels.at(3 * (y * image.width + x));
  return {rgb[0], rgb[1], rgb[2]};
}

/// Returns the error message of `action`.
template <typename Action>
std::string failure(const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no failure";
}

::testing::Matcher<std::array<int, 3>> near(int red, int green, int blue) {
  const auto closeTo = [](int value) {
    return AllOf(::testing::Ge(value - 1), ::testing::Le(value + 1));
  };
  return ElementsAre(closeTo(red), closeTo(green), closeTo(blue));
}

TEST(ImageDecoder, ReadsTheSameColorsFromJpegAndPng) {
  for (const char* name : {"halves.jpg", "halves.png"}) {
    const RgbImage image = decodeImage(imagePath(name), kWhole);
    ASSERT_EQ(image.width, 24u) << name;
    ASSERT_EQ(image.height, 16u) << name;
    EXPECT_THAT(pixel(image, 0, 0), near(200, 40, 60)) << name;
    EXPECT_THAT(pixel(image, 11, 15), near(200, 40, 60)) << name;
    EXPECT_THAT(pixel(image, 12, 0), near(30, 60, 180)) << name;
    EXPECT_THAT(pixel(image, 23, 15), near(30, 60, 180)) << name;
  }
}

TEST(ImageDecoder, ConvertsGrayAndInvertedCmykToRgb) {
  EXPECT_THAT(pixel(decodeImage(imagePath("gray.jpg"), kWhole), 3, 3), near(77, 77, 77));
  EXPECT_THAT(pixel(decodeImage(imagePath("cmyk.jpg"), kWhole), 3, 3), near(100, 150, 200));
}

TEST(ImageDecoder, DecodesAJpegAtTheSmallestSufficientSize) {
  const RgbImage eighth = decodeImage(imagePath("plain.jpg"), 8);
  EXPECT_EQ(eighth.width, 8u);
  EXPECT_THAT(pixel(eighth, 7, 7), near(90, 120, 150));
  EXPECT_EQ(decodeImage(imagePath("plain.jpg"), 9).width, 16u);
  EXPECT_EQ(decodeImage(imagePath("plain.jpg"), 33).width, 64u);
}

TEST(ImageDecoder, NamesAFileThatItCannotRead) {
  const steptape::testing::TempDir folder;
  const std::string missing = folder.string() + "/missing.jpg";
  EXPECT_EQ(failure([&] { decodeImage(missing, kWhole); }),
            "cannot read the image " + missing + ": it cannot be opened");
  const std::string text = folder.string() + "/text.jpg";
  std::ofstream(text) << "no image";
  EXPECT_THAT(failure([&] { decodeImage(text, kWhole); }),
              AllOf(HasSubstr("cannot read the image " + text), HasSubstr("Not a JPEG file")));
  const std::string cut = folder.string() + "/cut.png";
  std::filesystem::copy_file(imagePath("halves.png"), cut);
  std::filesystem::resize_file(cut, 60);
  EXPECT_THAT(failure([&] { decodeImage(cut, kWhole); }),
              HasSubstr("cannot read the image " + cut + ": "));
}

TEST(CropAndScale, CropsSevenEighthsAroundTheCenter) {
  // 8 x 16 pixels, each with the number of its row. The crop of 7 x 7 pixels starts at row 4 and
  // column 0.
  RgbImage image{8, 16, std::vector<std::uint8_t>(3 * 8 * 16)};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>(i / (3 * 8));
  }
  std::vector<std::uint8_t> square(3 * 7 * 7);
  cropAndScale(image, 7, square.data());
  EXPECT_THAT(std::vector<std::uint8_t>(square.begin(), square.begin() + 7), Each(4));
  EXPECT_THAT(std::vector<std::uint8_t>(square.end() - 7, square.end()), Each(10));
}

TEST(CropAndScale, AveragesTheCoveredPixels) {
  // The crop of 16 x 16 is 14 x 14: a chessboard of 0 and 200 becomes an even 100.
  RgbImage image{16, 16, std::vector<std::uint8_t>(3 * 16 * 16)};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const std::size_t x = i / 3 % 16;
    const std::size_t y = i / 3 / 16;
    image.pixels[i] = (x + y) % 2 == 0 ? 200 : 0;
  }
  std::vector<std::uint8_t> square(3 * 7 * 7);
  cropAndScale(image, 7, square.data());
  EXPECT_THAT(square, Each(100));
}

TEST(CropAndScale, RepeatsPixelsToEnlarge) {
  const RgbImage image{1, 1, {10, 20, 30}};
  std::vector<std::uint8_t> square(3 * 2 * 2);
  cropAndScale(image, 2, square.data());
  EXPECT_THAT(square, ElementsAre(10, 10, 10, 10, 20, 20, 20, 20, 30, 30, 30, 30));
}

TEST(ImageFolder, NumbersClassesInTheOrderOfTheirNames) {
  const steptape::testing::TempDir folder;
  for (const char* file : {"zebra/b.JPG", "zebra/a.png", "cat/1.jpeg", "cat/notes.txt"}) {
    const std::filesystem::path path = folder.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "";
  }
  std::ofstream(folder.string() + "/README") << "";

  const ImageFolder images(folder.string());
  EXPECT_EQ(images.classes(), 2);
  ASSERT_EQ(images.size(), 3);
  EXPECT_THAT(images.path(0), ::testing::EndsWith("cat/1.jpeg"));
  EXPECT_EQ(images.label(0), 0);
  EXPECT_THAT(images.path(1), ::testing::EndsWith("zebra/a.png"));
  EXPECT_EQ(images.label(1), 1);
  EXPECT_EQ(images.label(2), 1);
}

TEST(ImageFolder, ReportsAFolderWithoutImages) {
  const steptape::testing::TempDir folder;
  EXPECT_EQ(failure([&] { ImageFolder images(folder.string()); }),
            "image folder " + folder.string() +
                ": got no images; expected class/name.jpg or class/name.png");
  EXPECT_THAT(failure([] { ImageFolder images("no/such/folder"); }), HasSubstr("no/such/folder"));
}

}  // namespace
