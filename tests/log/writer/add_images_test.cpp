// SPDX-License-Identifier: Apache-2.0
//
// Images, boxes and videos written by the writer and read back.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/log/values.h"

#include "log/writer/fake_device.h"
#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"
#include "support/expect_error.h"
#include "values/kinds/image/boxes.h"
#include "values/kinds/image/image.h"
#include "values/kinds/video/video.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;
using Strings = std::vector<std::string>;

class AddImages : public WriterFixture {
 protected:
  AddImages() {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      bytes_[i] = static_cast<std::uint8_t>(i * 5);
    }
  }

  TensorView bytes(std::vector<std::int64_t> shape) const {
    return TensorView(bytes_.data(), std::move(shape));
  }

  /// Closes the writer and returns the width, the height and the files of the only value.
  Strings written(const std::string& tag) {
    EXPECT_TRUE(writer_.close().ok());
    const std::vector<event::Value> values = valuesIn(dir_.string());
    EXPECT_EQ(values.size(), 1U);
    if (values.empty()) {
      return {};
    }
    EXPECT_EQ(values[0].tag, tag);
    return stringsOf(values[0]);
  }

  static Strings stringsOf(const event::Value& value) {
    ImageValue images;
    EXPECT_TRUE(decodeImages(value, &images).ok());
    Strings strings = {std::to_string(images.width), std::to_string(images.height)};
    strings.insert(strings.end(), images.encoded.begin(), images.encoded.end());
    return strings;
  }

  FakeDevice device_;
  SummaryWriter writer_ = open();
  std::int64_t step_ = 0;
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(2000);
};

TEST_F(AddImages, WritesOneImage) {
  writer_.addImage("sample", bytes({3, 4, 5}), 7);
  EXPECT_EQ(written("sample"),
            (Strings{"5", "4", encodePng(detail::values::imagePixels(bytes({3, 4, 5}), "CHW"))}));
}

TEST_F(AddImages, WritesABatchAsAGrid) {
  ImagesOptions options;
  options.dataFormat = "NHWC";
  writer_.addImages("batch", bytes({9, 2, 2, 3}), 7, options);
  EXPECT_EQ(
      written("batch"),
      (Strings{"16", "4", encodePng(detail::values::imageGrid(bytes({9, 2, 2, 3}), "NHWC"))}));
}

TEST_F(AddImages, WritesImagesOfDifferentSizesAsOneValue) {
  writer_.addImages("list", {bytes({3, 4, 5}), bytes({1, 9, 2}), bytes({4, 1, 1})}, 7);
  EXPECT_EQ(written("list"),
            (Strings{"5", "9", encodePng(detail::values::imagePixels(bytes({3, 4, 5}), "CHW")),
                     encodePng(detail::values::imagePixels(bytes({1, 9, 2}), "CHW")),
                     encodePng(detail::values::imagePixels(bytes({4, 1, 1}), "CHW"))}));
}

TEST_F(AddImages, NamesTheImageThatIsWrong) {
  expectInvalidArgument(
      [&] {
        writer_.addImages("list", {bytes({3, 4, 5}), bytes({2, 2})}, 7);
      },
      "addImages \"list\": image 1: got shape (2, 2); expected 3 dimensions for dataFormat "
      "\"CHW\"");
}

TEST_F(AddImages, RejectsAnEmptyList) {
  expectInvalidArgument([&] { writer_.addImages("list", std::vector<TensorView>(), 7); },
                        "addImages \"list\": got no images; expected at least one");
}

TEST_F(AddImages, DrawsBoxes) {
  const std::int64_t corners[] = {1, 1, 20, 14};
  const TensorView boxes(corners, {1, 4});
  BoxOptions options;
  options.labels = {"cat"};
  options.rescale = 2;
  writer_.addImageWithBoxes("boxes", bytes({1, 18, 24}), boxes, 7, options);
  const detail::values::Pixels drawn = detail::values::drawBoxes(
      detail::values::imagePixels(bytes({1, 18, 24}), "CHW"), {{1, 1, 20, 14}}, options);
  EXPECT_EQ(written("boxes"), (Strings{"48", "36", detail::values::encodePng(drawn)}));
}

TEST_F(AddImages, RejectsBoxesThatAreNotFiniteOnTheCaller) {
  const double corners[] = {1, 1, 20, std::numeric_limits<double>::quiet_NaN()};
  expectInvalidArgument(
      [&] {
        writer_.addImageWithBoxes("b", bytes({1, 18, 24}), TensorView(corners, {1, 4}), 7);
      },
      "addImageWithBoxes \"b\": got bottom of box 0 = nan; expected a finite number");
}

TEST_F(AddImages, WritesAVideoAsAnAnimatedPng) {
  VideoOptions options;
  options.fps = 8;
  writer_.addVideo("clip", bytes({2, 3, 3, 4, 5}), 7, options);
  EXPECT_EQ(written("clip"),
            (Strings{"10", "4",
                     encodeApng(detail::values::videoFrames(bytes({2, 3, 3, 4, 5}), "NTCHW"), 8)}));
}

TEST_F(AddImages, RejectsAVideoWithoutTime) {
  VideoOptions options;
  options.fps = 0;
  expectInvalidArgument(
      [&] {
        writer_.addVideo("clip", bytes({1, 1, 1, 4, 5}), 7, options);
      },
      "addVideo \"clip\": got fps = 0.000000; expected 0.01 to 1000");
}

TEST_F(AddImages, KeepsNamesAndWallTime) {
  ImageOptions options;
  options.wallTime = 12.5;
  options.displayName = "Sample";
  options.description = "of the test set";
  writer_.addImage("sample", bytes({3, 4, 5}), 7, options);
  EXPECT_TRUE(writer_.close().ok());
  const event::Event event = eventsIn(dir_.string()).back();
  EXPECT_EQ(event.step, 7);
  EXPECT_EQ(event.wallTime, 12.5);
  const event::Value& value = std::get<event::Summary>(event.what).values.at(0);
  EXPECT_EQ(value.metadata->displayName, "Sample");
  EXPECT_EQ(value.metadata->description, "of the test set");
}

TEST_F(AddImages, TakesPixelsBeforeItReturns) {
  const Strings wanted = {
      "5", "4", detail::values::encodePng(detail::values::imagePixels(bytes({3, 4, 5}), "CHW"))};
  writer_.addImage("sample", bytes({3, 4, 5}), 7);
  std::fill(bytes_.begin(), bytes_.end(), std::uint8_t{0});
  EXPECT_EQ(written("sample"), wanted);
}

TEST_F(AddImages, ReportsNanOncePerTagWithItsCount) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float pixels[] = {nan, 0.5F, nan, 1};
  const float fewer[] = {nan, 0.5F, 0, 1};
  ImageOptions gray;
  gray.dataFormat = "HW";
  writer_.addImage("a", TensorView(pixels, {2, 2}), 1, gray);
  writer_.addImage("a", TensorView(fewer, {2, 2}), 2, gray);
  VideoOptions video;
  video.dataFormat = "THW";
  writer_.addVideo("b", TensorView(fewer, {1, 2, 2}), 1, video);
  EXPECT_TRUE(writer_.close().ok());
  EXPECT_EQ(reports(), (Strings{"image \"a\": got 2 NaN elements; they are shown as 0",
                                "image \"b\": got 1 NaN elements; they are shown as 0"}));
  EXPECT_EQ(valuesIn(dir_.string()).size(), 3U);
}

TEST_F(AddImages, ReportsColorsFarOutside0To1OncePerTag) {
  const std::vector<float> bytes = {0, 128, 255, 7};
  const std::vector<float> centered = {-1, 0.5F, 0.25F, 3};
  const std::vector<float> dark = {-1, 0.5F, 0.25F, 1};
  const std::vector<float> usual = {-0.01F, 1.01F, 0, 1};
  ImageOptions gray;
  gray.dataFormat = "HW";
  const auto add = [&](const char* tag, const std::vector<float>& pixels) {
    writer_.addImage(tag, TensorView(pixels.data(), {2, 2}), step_++, gray);
  };
  add("usual", usual);
  add("bytes", bytes);
  add("bytes", bytes);
  add("centered", centered);
  add("dark", dark);
  VideoOptions video;
  video.dataFormat = "THW";
  writer_.addVideo("video", TensorView(bytes.data(), {2, 1, 2}), 1, video);
  writer_.addImages("batch", TensorView(bytes.data(), {1, 1, 2, 2}), 1);
  writer_.addImages("list", {TensorView(usual.data(), {2, 2}), TensorView(bytes.data(), {2, 2})}, 1,
                    gray);
  BoxOptions boxes;
  boxes.dataFormat = "HW";
  const float corners[] = {0, 0, 1, 1};
  writer_.addImageWithBoxes("boxes", TensorView(bytes.data(), {2, 2}), TensorView(corners, {1, 4}),
                            1, boxes);
  EXPECT_TRUE(writer_.close().ok());
  const auto message = [](const std::string& what, const std::string& range) {
    return what + ": got floating-point colors " + range +
           "; expected 0 to 1: they are clipped, and further ones are not reported. ";
  };
  const std::string bytesHint = "For 0 to 255, pass uint8 or divide by 255";
  const std::string signHint = "Scale them, such as (x + 1) / 2 for -1 to 1";
  EXPECT_EQ(reports(), (Strings{message("image \"bytes\"", "up to 255") + bytesHint,
                                message("image \"centered\"", "from -1 to 3") + signHint,
                                message("image \"dark\"", "down to -1") + signHint,
                                message("image \"video\"", "up to 255") + bytesHint,
                                message("image \"batch\"", "up to 255") + bytesHint,
                                message("image \"list\"", "up to 255") + bytesHint,
                                message("image \"boxes\"", "up to 255") + bytesHint}));
}

TEST_F(AddImages, WaitsForElementsOnTheBackendOnly) {
  const std::vector<float> values = {0, 0.25F, 0.5F, 1};
  ImageOptions gray;
  gray.dataFormat = "HW";
  writer_.addImage("sample", device_.copy(values, {2, 2}), 7, gray);
  device_.finish();
  EXPECT_EQ(
      written("sample"),
      (Strings{"2", "2",
               encodePng(detail::values::imagePixels(TensorView(values.data(), {2, 2}), "HW"))}));
}

TEST_F(AddImages, ChecksElementsInFlightByTheirShape) {
  expectInvalidArgument(
      [&] {
        writer_.addImage("a", device_.copy({0, 1}, {1, 2}), 7);
      },
      "addImage \"a\": got shape (1, 2); expected 3 dimensions for dataFormat \"CHW\"");
  expectInvalidArgument(
      [&] {
        writer_.addImages("a", device_.copy({0, 1}, {1, 2}), 7);
      },
      "addImages \"a\": got shape (1, 2); expected 4 dimensions for dataFormat \"NCHW\"");
  expectInvalidArgument(
      [&] {
        writer_.addVideo("a", device_.copy({0, 1}, {1, 2}), 7);
      },
      "addVideo \"a\": got shape (1, 2); expected 5 dimensions for dataFormat \"NTCHW\"");
  expectInvalidArgument(
      [&] {
        writer_.addImageWithBoxes("a", bytes({3, 4, 5}), device_.copy({0, 1}, {1, 2}), 7);
      },
      "addImageWithBoxes \"a\": got boxes of shape (1, 2); expected (N, 4): left, top, right, "
      "bottom");
}

TEST_F(AddImages, DropsAndReportsBoxesThatArriveAsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  writer_.addImageWithBoxes("a", bytes({3, 4, 5}), device_.copy({0, 0, nan, 1}, {1, 4}), 7);
  device_.finish();
  EXPECT_TRUE(writer_.close().ok());
  EXPECT_TRUE(valuesIn(dir_.string()).empty());
  EXPECT_EQ(writer_.stats().droppedValues, 1U);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_NE(reports()[0].find("addImageWithBoxes \"a\": got right of box 0 = nan"),
            std::string::npos)
      << reports()[0];
}

}  // namespace
}  // namespace steptape
