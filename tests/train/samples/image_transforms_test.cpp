// SPDX-License-Identifier: Apache-2.0
// tests/interop/images_test.py compares the pixels with Pillow's.
#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "steptape/train/samples.h"

#include "support/expect_error.h"
#include "train/samples/image_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::train::ImagePlan;
using detail::train::Rect;
using test::expectInvalidArgument;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// One channel; each pixel is 10 * row + column.
Image numbered(std::int64_t width, std::int64_t height) {
  Image image{width, height, 1, {}};
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      image.pixels.push_back(static_cast<std::uint8_t>(10 * y + x));
    }
  }
  return image;
}

Image transformed(const Image& image, const ImageTransforms& transforms, std::int64_t sample = 0) {
  SampleRandom random(0, 0, sample);
  return transformImage(image, transforms, random);
}

TEST(ImageTransforms, CropTheCenter) {
  EXPECT_THAT(transformed(numbered(4, 4), {CenterCrop{2}}).pixels, ElementsAre(11, 12, 21, 22));
  // Halves are rounded to even, as in torchvision: 0.5 to 0, 1.5 to 2.
  EXPECT_THAT(transformed(numbered(3, 5), {CenterCrop{2}}).pixels, ElementsAre(20, 21, 30, 31));
}

TEST(ImageTransforms, PadASmallImageWithBlackAroundTheCenter) {
  const Image image = transformed(numbered(1, 2), {CenterCrop{3}});
  EXPECT_THAT(image.pixels, ElementsAre(0, 0, 0, 0, 10, 0, 0, 0, 0));
}

TEST(ImageTransforms, CropAtEveryPlaceOfThePaddedImage) {
  std::set<std::vector<std::uint8_t>> seen;
  for (std::int64_t sample = 0; sample < 500; ++sample) {
    seen.insert(transformed(Image{2, 1, 1, {1, 2}}, {RandomCrop{1, 1}}, sample).pixels);
  }
  EXPECT_THAT(seen, ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

TEST(ImageTransforms, MirrorWithTheProbability) {
  const Image image{2, 1, 3, {1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(transformed(image, {RandomHorizontalFlip{1}}).pixels, ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_EQ(transformed(image, {RandomHorizontalFlip{0}}).pixels, image.pixels);
  int mirrored = 0;
  for (std::int64_t sample = 0; sample < 1000; ++sample) {
    mirrored += transformed(image, {RandomHorizontalFlip{}}, sample).pixels[0] == 4 ? 1 : 0;
  }
  EXPECT_NEAR(mirrored, 500, 80);
}

TEST(ImageTransforms, ApplyInTheirOrder) {
  // Mirrored, then the left half of the center.
  const Image image = transformed(
      numbered(4, 2), {RandomHorizontalFlip{1}, CenterCrop{2}, RandomHorizontalFlip{1}});
  EXPECT_THAT(image.pixels, ElementsAre(1, 2, 11, 12));
  // What the first crop has cut off does not come back.
  const Image padded = transformed(numbered(4, 4), {CenterCrop{2}, CenterCrop{4}});
  EXPECT_THAT(padded.pixels, ElementsAre(0, 0, 0, 0, 0, 11, 12, 0, 0, 21, 22, 0, 0, 0, 0, 0));
}

TEST(ImageTransforms, ResizeTheShorterSide) {
  const Image wide = transformed(numbered(7, 3), {Resize{2}});
  EXPECT_EQ(std::make_pair(wide.width, wide.height),
            std::make_pair(std::int64_t{4}, std::int64_t{2}));
  const Image high = transformed(numbered(3, 7), {Resize{6}});
  EXPECT_EQ(std::make_pair(high.width, high.height),
            std::make_pair(std::int64_t{6}, std::int64_t{14}));
}

TEST(ImageTransforms, ComputeTheSameInOneStepAndInTwo) {
  const Image image = numbered(9, 7);
  const Image resized = transformed(image, {Resize{5}});
  EXPECT_EQ(transformed(image, {Resize{5}, CenterCrop{4}}).pixels,
            transformed(resized, {CenterCrop{4}}).pixels);
  EXPECT_EQ(transformed(image, {Resize{5}, CenterCrop{4}, Resize{3}}).pixels,
            transformed(transformed(resized, {CenterCrop{4}}), {Resize{3}}).pixels);
}

TEST(ImageTransforms, KeepAnEvenColor) {
  const Image even{11, 13, 3, std::vector<std::uint8_t>(11 * 13 * 3, 201)};
  for (std::int64_t sample = 0; sample < 50; ++sample) {
    const Image image = transformed(even, {RandomResizedCrop{5}}, sample);
    EXPECT_THAT(image.pixels, ElementsAreArray(std::vector<std::uint8_t>(5 * 5 * 3, 201)));
  }
}

TEST(RandomResizedCrop, ChoosesAreaAndRatioInTheirRanges) {
  const RandomResizedCrop transform;
  double least = 1;
  double most = 0;
  for (std::int64_t sample = 0; sample < 2000; ++sample) {
    SampleRandom random(0, 0, sample);
    const ImagePlan plan = detail::train::planImage({400, 300}, {transform}, random);
    ASSERT_EQ(plan.size(), 1u);
    const Rect crop = plan[0].crop;
    EXPECT_GE(crop.x, 0);
    EXPECT_GE(crop.y, 0);
    EXPECT_LE(crop.x + crop.width, 400);
    EXPECT_LE(crop.y + crop.height, 300);
    const double area = static_cast<double>(crop.width * crop.height) / (400 * 300);
    const double ratio = static_cast<double>(crop.width) / static_cast<double>(crop.height);
    EXPECT_NEAR(ratio, 1, 0.36);
    least = std::min(least, area);
    most = std::max(most, area);
  }
  EXPECT_NEAR(least, 0.08, 0.02);
  EXPECT_GT(most, 0.9);
}

TEST(RandomResizedCrop, TakesTheLargestCentralPartIfNoneFits) {
  SampleRandom random(0, 0, 0);
  const ImagePlan plan = detail::train::planImage({1000, 10}, {RandomResizedCrop{8}}, random);
  const Rect crop = plan[0].crop;
  EXPECT_EQ(crop.width, 13);
  EXPECT_EQ(crop.height, 10);
  EXPECT_EQ(crop.x, 493);
}

TEST(ImageTransforms, RejectWhatDoesNotFit) {
  expectInvalidArgument([] { transformed(numbered(4, 3), {RandomCrop{5}}); },
                        "RandomCrop: got an image of 4 x 3 with padding 0; expected at least 5 x 5 "
                        "in all");
  expectInvalidArgument([] { transformed(numbered(4, 3), {Resize{0}}); },
                        "Resize: got size 0; expected at least 1");
  expectInvalidArgument(
      [] {
        transformed(Image{2, 2, 3, {1}}, {});
      },
      "transformImage: got 1 bytes for 2 x 2 pixels of 3 channels; expected 1 or "
      "3 channels and a byte for each");
}

}  // namespace
}  // namespace steptape
