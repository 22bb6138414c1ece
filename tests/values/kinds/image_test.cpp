// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/image.h"

#include <limits>
#include <numeric>

#include "support/expect_error.h"
#include "values/kinds/special_values.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;
using Bytes = std::vector<std::uint8_t>;

Bytes counting(std::size_t count) {
  Bytes bytes(count);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

class ImagePixels : public ::testing::Test {
 protected:
  ImagePixels() : bytes_(counting(60)) {}
  TensorView bytes(std::vector<std::int64_t> shape) const {
    return TensorView(bytes_.data(), std::move(shape));
  }
  static Bytes gray(const std::vector<float>& values) {
    return detail::values::imagePixels(
               TensorView(values.data(), {1, static_cast<std::int64_t>(values.size())}), "HW")
        .data;
  }
  Bytes bytes_;
};

TEST_F(ImagePixels, InterleavesChannelsGivenFirst) {
  const detail::values::Pixels pixels = detail::values::imagePixels(bytes({3, 1, 2}), "CHW");
  EXPECT_EQ(pixels.width, 2);
  EXPECT_EQ(pixels.height, 1);
  EXPECT_EQ(pixels.channels, 3);
  EXPECT_EQ(pixels.data, (Bytes{0, 2, 4, 1, 3, 5}));
}

TEST_F(ImagePixels, KeepsChannelsGivenLast) {
  const detail::values::Pixels pixels = detail::values::imagePixels(bytes({2, 1, 4}), "HWC");
  EXPECT_EQ(pixels.width, 1);
  EXPECT_EQ(pixels.height, 2);
  EXPECT_EQ(pixels.channels, 4);
  EXPECT_EQ(pixels.data, counting(8));
}

TEST_F(ImagePixels, TakesTwoDimensionsAsGray) {
  const detail::values::Pixels pixels = detail::values::imagePixels(bytes({2, 3}), "HW");
  EXPECT_EQ(pixels.channels, 1);
  EXPECT_EQ(pixels.data, counting(6));
}

TEST_F(ImagePixels, TransposesWidthFirst) {
  EXPECT_EQ(detail::values::imagePixels(bytes({2, 3}), "WH").data, (Bytes{0, 3, 1, 4, 2, 5}));
}

TEST_F(ImagePixels, FollowsNegativeStrides) {
  const TensorView flipped(bytes_.data() + 5, {2, 3}, {-3, -1});
  EXPECT_EQ(detail::values::imagePixels(flipped, "HW").data, (Bytes{5, 4, 3, 2, 1, 0}));
}

TEST_F(ImagePixels, RepeatsAStrideOfZero) {
  const TensorView expanded(bytes_.data(), {3, 1, 2}, {0, 2, 1});
  EXPECT_EQ(detail::values::imagePixels(expanded, "CHW").data, (Bytes{0, 0, 0, 1, 1, 1}));
}

// 0.5 * 255 = 127.5 and 0.999 * 255 = 254.745, truncated as by numpy's astype(uint8).
TEST_F(ImagePixels, ScalesAndCutsFloats) {
  EXPECT_EQ(gray({0, 0.5F, 0.999F, 1}), (Bytes{0, 127, 254, 255}));
}

TEST_F(ImagePixels, ClampsFloatsAndMakesNanBlack) {
  EXPECT_EQ(gray({-0.5F, 1.5F, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}),
            (Bytes{0, 255, 255, 0, 0}));
}

TEST_F(ImagePixels, CountsNansOfEveryFloatingType) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float floats[] = {nan, 1, nan};
  EXPECT_EQ(detail::values::imagePixels(TensorView(floats, {1, 3}), "HW").unshown.nans, 2U);
  const double doubles[] = {0, nan, 1};
  EXPECT_EQ(detail::values::imagePixels(TensorView(doubles, {1, 3}), "HW").unshown.nans, 1U);
  const std::uint16_t halves[] = {0x7E00, 0x7C00, 0x3C00};  // NaN, infinity and 1
  EXPECT_EQ(detail::values::imagePixels(TensorView(halves, DType::kFloat16, {1, 3}, {}), "HW")
                .unshown.nans,
            1U);
  EXPECT_EQ(detail::values::imagePixels(bytes({3, 4, 5}), "CHW").unshown.nans, 0U);
}

TEST_F(ImagePixels, KnowTheRangeOfElementsFarOutside0To1) {
  const auto rangeOf = [](const std::vector<float>& elements, std::int64_t channels) {
    const auto size = static_cast<std::int64_t>(elements.size()) / channels;
    const detail::values::UnshownElements unshown =
        detail::values::imagePixels(TensorView(elements.data(), {channels, 1, size}), "CHW")
            .unshown;
    EXPECT_EQ(unshown.nans, 0U);
    return std::make_pair(unshown.lowest, unshown.highest);
  };
  EXPECT_EQ(rangeOf({-0.5F, 0, 1.5F}, 1), std::make_pair(0.0F, 0.0F)) << "rounding and filters";
  EXPECT_EQ(rangeOf({0, 128, 2}, 1), std::make_pair(0.0F, 128.0F));
  EXPECT_EQ(rangeOf({0, 128, 2}, 3), std::make_pair(0.0F, 128.0F)) << "each channel is a run";
  EXPECT_EQ(rangeOf({-1, 0.5F, 1}, 1), std::make_pair(-1.0F, 0.0F));
  EXPECT_EQ(rangeOf({3, kInfinity, -kInfinity, 2, 5, 0}, 3), std::make_pair(-kInfinity, kInfinity));
  const std::vector<std::uint8_t> whole = {255, 0, 7};
  EXPECT_EQ(detail::values::imagePixels(TensorView(whole.data(), {1, 3}), "HW").unshown.highest, 0);
}

TEST_F(ImagePixels, ConvertsFloatsGivenInEveryOrder) {
  std::vector<float> floats(24);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(i) / 255;
  }
  const Bytes interleaved = counting(24);
  // (H, W, C) = (2, 4, 3) in memory, viewed in the orders of the Python writers.
  const auto view = [&](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
    return TensorView(floats.data(), std::move(shape), std::move(strides));
  };
  EXPECT_EQ(detail::values::imagePixels(view({2, 4, 3}, {12, 3, 1}), "HWC").data, interleaved);
  EXPECT_EQ(detail::values::imagePixels(view({3, 2, 4}, {1, 12, 3}), "CHW").data, interleaved);
  EXPECT_EQ(detail::values::imagePixels(view({3, 4, 2}, {1, 3, 12}), "CWH").data, interleaved);
}

TEST_F(ImagePixels, TakesDoublesHalvesAndBools) {
  const double doubles[] = {0.25, 1e300};
  EXPECT_EQ(detail::values::imagePixels(TensorView(doubles, {1, 2}), "HW").data, (Bytes{63, 255}));
  const std::uint16_t halves[] = {0x3800, 0x3C00};  // 0.5 and 1
  EXPECT_EQ(detail::values::imagePixels(TensorView(halves, DType::kFloat16, {1, 2}, {}), "HW").data,
            (Bytes{127, 255}));
  const std::uint16_t brains[] = {0x3F00, 0x3F80};  // 0.5 and 1
  EXPECT_EQ(
      detail::values::imagePixels(TensorView(brains, DType::kBFloat16, {1, 2}, {}), "HW").data,
      (Bytes{127, 255}));
  const bool bools[] = {false, true};
  EXPECT_EQ(detail::values::imagePixels(TensorView(bools, {1, 2}), "HW").data, (Bytes{0, 255}));
}

TEST_F(ImagePixels, RejectsIntegersOfUnknownScale) {
  const std::vector<std::int64_t> integers(4);
  expectInvalidArgument(
      [&] {
        detail::values::imagePixels(TensorView(integers.data(), {2, 2}), "HW");
      },
      "got element type int64; expected uint8 (0 to 255), a floating-point type (0 to 1) or bool");
}

TEST_F(ImagePixels, RejectsAnUnknownFormat) {
  for (const char* format : {"", "CH", "chw", "CHWX", "CCHW", "NCHW"}) {
    expectInvalidArgument(
        [&] {
          detail::values::imagePixels(bytes({3, 2, 2}), format);
        },
        "got dataFormat = \"" + std::string(format) +
            "\"; expected the letters of \"CHW\" or \"HW\" in any order");
  }
}

TEST_F(ImagePixels, RejectsAShapeOfAnotherRank) {
  expectInvalidArgument(
      [&] {
        detail::values::imagePixels(bytes({2, 2}), "CHW");
      },
      "got shape (2, 2); expected 3 dimensions for dataFormat \"CHW\"");
}

TEST_F(ImagePixels, RejectsTwoChannels) {
  expectInvalidArgument(
      [&] {
        detail::values::imagePixels(bytes({2, 3, 4}), "CHW");
      },
      "got 2 channels in shape (2, 3, 4) with dataFormat \"CHW\"; expected 1, 3 or 4");
}

TEST_F(ImagePixels, RejectsAnEmptyImage) {
  expectInvalidArgument(
      [&] {
        detail::values::imagePixels(bytes({3, 0, 4}), "CHW");
      },
      "got shape (3, 0, 4); expected at least one pixel");
}

TEST_F(ImagePixels, AreCheckedWithoutReadingAnElement) {
  // Reading from this invalid pointer would crash.
  const auto* const nowhere = reinterpret_cast<const float*>(std::uintptr_t{16});
  detail::values::checkImage(TensorView(nowhere, {3, 2, 2}), "CHW");
  detail::values::checkImageGrid(TensorView(nowhere, {9, 3, 2, 2}), "NCHW");
  expectInvalidArgument(
      [&] {
        detail::values::checkImage(TensorView(nowhere, {5, 2, 2}), "CHW");
      },
      "got 5 channels in shape (5, 2, 2) with dataFormat \"CHW\"; expected 1, 3 or 4");
}

using ImageGrid = ImagePixels;

// Produced by tensorboardX 2.6.5: make_grid(np.arange(60, dtype=np.uint8).reshape(10, 3, 1, 2)).
TEST_F(ImageGrid, TilesLikeTensorboardX) {
  const detail::values::Pixels pixels = detail::values::imageGrid(bytes({10, 3, 1, 2}), "NCHW");
  EXPECT_EQ(pixels.width, 16);
  EXPECT_EQ(pixels.height, 2);
  EXPECT_EQ(pixels.channels, 3);
  EXPECT_EQ(pixels.data,
            (Bytes{0,  2,  4,  1,  3,  5,  6,  8,  10, 7,  9,  11, 12, 14, 16, 13, 15, 17, 18, 20,
                   22, 19, 21, 23, 24, 26, 28, 25, 27, 29, 30, 32, 34, 31, 33, 35, 36, 38, 40, 37,
                   39, 41, 42, 44, 46, 43, 45, 47, 48, 50, 52, 49, 51, 53, 54, 56, 58, 55, 57, 59,
                   0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                   0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0}));
}

TEST_F(ImageGrid, IsAsWideAsTheImagesIfFewerThanEight) {
  const detail::values::Pixels pixels = detail::values::imageGrid(bytes({3, 2, 2}), "NHW");
  EXPECT_EQ(pixels.width, 6);
  EXPECT_EQ(pixels.height, 2);
  EXPECT_EQ(pixels.channels, 1);
  EXPECT_EQ(pixels.data, (Bytes{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11}));
}

TEST_F(ImageGrid, TakesChannelsGivenLast) {
  EXPECT_EQ(detail::values::imageGrid(bytes({2, 1, 1, 3}), "NHWC").data, counting(6));
}

TEST_F(ImageGrid, RejectsTheFormatOfOneImage) {
  expectInvalidArgument(
      [&] {
        detail::values::imageGrid(bytes({3, 2, 2}), "CHW");
      },
      "got dataFormat = \"CHW\"; expected the letters of \"NCHW\" or \"NHW\" in any order");
}

TEST_F(ImageGrid, RejectsASideThatNoImageHas) {
  // One repeated element: an image that needs no memory until it is copied.
  const TensorView huge(bytes_.data(), {16, 1, 1, INT64_C(1) << 29}, {0, 0, 0, 0});
  expectInvalidArgument(
      [&] { detail::values::imageGrid(huge, "NCHW"); },
      "PNG: got an image of 4294967296 x 2 pixels with 1 channels; expected at most 1 GiB");
}

TEST(ImageValue, IsAMessageThatTorchsReadersKnow) {
  const event::Value value = detail::values::imageValue("sample", 28, 14, "png bytes");
  const auto& image = std::get<event::SummaryImage>(value.data);
  EXPECT_EQ(image.width, 28);
  EXPECT_EQ(image.height, 14);
  EXPECT_EQ(image.encoded, "png bytes");
  EXPECT_FALSE(value.metadata);
  EXPECT_TRUE(std::holds_alternative<event::SummaryImage>(
      detail::values::imageValue("sample", 1, 1, std::vector<std::string>{"png"}).data));
}

TEST(ImageValue, StoresTheNumberOfChannelsOfThePng) {
  for (const int channels : {1, 3, 4}) {
    detail::values::Pixels pixels{1, 1, channels,
                                  std::vector<std::uint8_t>(static_cast<std::size_t>(channels))};
    const event::Value value =
        detail::values::imageValue("sample", 1, 1, detail::values::encodePng(pixels));
    EXPECT_EQ(std::get<event::SummaryImage>(value.data).colorspace, channels);
  }
}

TEST(ImageValue, HasMetadataWithAMessageForItsNamesOnly) {
  event::SummaryMetadata metadata;
  metadata.description = "of the test set";
  const event::Value value = detail::values::imageValue("sample", 28, 14, "png bytes", metadata);
  ASSERT_TRUE(value.metadata);
  EXPECT_EQ(value.metadata->description, "of the test set");
  EXPECT_EQ(value.metadata->pluginName, "images");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kBlobSequence);
}

TEST(ImageValue, IsWidthHeightAndPngOfTheImagePlugin) {
  event::SummaryMetadata metadata;
  metadata.displayName = "Sample";
  metadata.description = "of the test set";
  const event::Value value =
      detail::values::imageValue("sample", 28, 14, "png bytes", metadata, ValueForm::kTensor);
  EXPECT_EQ(value.tag, "sample");
  const auto& tensor = std::get<event::Tensor>(value.data);
  EXPECT_EQ(tensor.type, event::TensorType::kString);
  EXPECT_EQ(tensor.shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(tensor.strings, (std::vector<std::string>{"28", "14", "png bytes"}));
  EXPECT_EQ(value.metadata->pluginName, "images");
  EXPECT_EQ(value.metadata->pluginContent, "");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kBlobSequence);
  EXPECT_EQ(value.metadata->displayName, "Sample");
  EXPECT_EQ(value.metadata->description, "of the test set");
}

TEST(ImageValue, HoldsSeveralImagesOfOneStep) {
  const event::Value value =
      detail::values::imageValue("samples", 30, 20, {"first", "second", "third"});
  const auto& tensor = std::get<event::Tensor>(value.data);
  EXPECT_EQ(tensor.shape, std::vector<std::int64_t>{5});
  EXPECT_EQ(tensor.strings, (std::vector<std::string>{"30", "20", "first", "second", "third"}));
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kBlobSequence);
}

}  // namespace
}  // namespace steptape
