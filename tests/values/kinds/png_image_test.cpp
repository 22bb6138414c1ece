// SPDX-License-Identifier: Apache-2.0
// PNG files of other libraries, as addFigure() takes them.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "steptape/values/figure_traits.h"

#include "support/expect_error.h"
#include "values/kinds/png_decoder.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;

/// Returns a file written by libpng, 5 x 3 pixels.
std::string filed() {
  png_image image;
  std::memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  image.width = 5;
  image.height = 3;
  image.format = PNG_FORMAT_RGBA;
  const std::array<unsigned char, 60> pixels{};
  std::array<char, 1000> memory;
  png_alloc_size_t size = memory.size();
  EXPECT_NE(png_image_write_to_memory(&image, memory.data(), &size, 0, pixels.data(), 0, nullptr),
            0);
  return {memory.data(), size};
}

TEST(PngImage, HasTheSizeInTheFile) {
  const PngImage image = pngImage(filed());
  EXPECT_EQ(image.width, 5);
  EXPECT_EQ(image.height, 3);
  EXPECT_TRUE(image.bytes == filed());
}

TEST(PngImage, MayHaveChunksOfAnyKind) {
  // Inserts an empty chunk of the unknown type "teXt" before IEND, which has 12 bytes.
  std::string file = filed();
  file.insert(file.size() - 12, std::string("\0\0\0\0teXt\0\0\0\0", 12));
  EXPECT_EQ(pngImage(file).width, 5);
}

TEST(PngImage, IsRefusedWithoutTheSignature) {
  for (const std::string bytes : {"", "\x89PNG", "GIF89a and more"}) {
    expectInvalidArgument(
        [&] { pngImage(bytes); },
        "pngImage: got bytes without the signature of a PNG file; expected a PNG file");
  }
}

TEST(PngImage, IsRefusedWhereverItIsCutShort) {
  const std::string file = filed();
  for (std::size_t size = 8; size < file.size(); ++size) {
    expectInvalidArgument([&] { pngImage(file.substr(0, size)); },
                          "pngImage: got a PNG file that ends inside a chunk, after " +
                              std::to_string(size) + " bytes; expected a whole file");
  }
}

TEST(PngImage, IsRefusedWithADamagedHeader) {
  for (std::size_t at = 12; at < 33; ++at) {
    std::string file = filed();
    file[at] = static_cast<char>(file[at] ^ 1);
    expectInvalidArgument(
        [&] { pngImage(file); },
        "pngImage: got a first chunk that is not an intact header (IHDR); expected a PNG file");
  }
}

TEST(PngImage, IsCapturedWithTheSizeOfTheFileWhateverItsFieldsSay) {
  PngImage image;
  image.width = 7777;
  image.bytes = filed();
  const CapturedFigure captured = FigureTraits<PngImage>::capture(image);
  EXPECT_EQ(captured.bytes, filed().size());
  EXPECT_EQ(captured.draw().width, 5);
  EXPECT_EQ(captured.draw().height, 3);
  EXPECT_TRUE(captured.draw().bytes == filed());
}

TEST(PngImage, IsCheckedWhenItIsCaptured) {
  expectInvalidArgument(
      [] {
        FigureTraits<PngImage>::capture({1, 1, "no picture"});
      },
      "pngImage: got bytes without the signature of a PNG file; expected a PNG file");
}

}  // namespace
}  // namespace steptape
