// SPDX-License-Identifier: Apache-2.0
// Figures written by the writer and read back.
#include <algorithm>
#include <string>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/log/values.h"
#include "steptape/ranks/testing.h"

#include "log/writer/fake_device.h"
#include "log/writer/run_contents.h"
#include "support/expect_error.h"
#include "values/charts/picture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using test::expectInvalidArgument;

Figure example() {
  Figure figure;
  figure.line(std::vector<double>{1, 3, 2}).setTitle("Loss");
  return figure;
}

/// Returns width, height and images of a value.
std::vector<std::string> stringsOf(const event::Value& value) {
  ImageValue images;
  EXPECT_TRUE(decodeImages(value, &images).ok());
  std::vector<std::string> strings = {std::to_string(images.width), std::to_string(images.height)};
  strings.insert(strings.end(), images.encoded.begin(), images.encoded.end());
  return strings;
}

/// Returns the value that `log` writes; fails the test unless there is exactly one.
template <typename Log>
event::Value writtenBy(Log&& log) {
  const testing::TempDir directory;
  SummaryWriter writer(directory.path());
  log(&writer);
  EXPECT_TRUE(writer.close().ok());
  std::vector<event::Value> values = valuesIn(directory.path());
  EXPECT_EQ(values.size(), 1U);
  return values.empty() ? event::Value() : values.front();
}

TEST(AddFigure, WritesAnImageThatTensorBoardShows) {
  FigureOptions options;
  options.displayName = "The loss";
  options.description = "of *training*";
  const event::Value value =
      writtenBy([&](SummaryWriter* writer) { writer->addFigure("loss", example(), 7, options); });
  EXPECT_EQ(value.tag, "loss");
  ASSERT_TRUE(value.metadata.has_value());
  EXPECT_EQ(value.metadata->pluginName, "images");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kBlobSequence);
  EXPECT_EQ(value.metadata->displayName, "The loss");
  EXPECT_EQ(value.metadata->description, "of *training*");
  EXPECT_TRUE(stringsOf(value) ==
              (std::vector<std::string>{"640", "480", example().render().bytes}));
}

TEST(AddFigure, DrawsTheFigureAsItWasWhenItWasAdded) {
  const event::Value value = writtenBy([](SummaryWriter* writer) {
    Figure figure = example();
    writer->addFigure("loss", figure, 0);
    figure.setTitle("Changed").line(std::vector<double>{5, 6});
  });
  EXPECT_TRUE(stringsOf(value)[2] == example().render().bytes);
}

TEST(AddFigure, StoresTheLargestSidesOfSeveralFigures) {
  CanvasOptions tall;
  tall.width = 200;
  tall.height = 700;
  const event::Value value = writtenBy([&](SummaryWriter* writer) {
    writer->addFigure("both", std::vector<Figure>{example(), Figure(tall)}, 0);
  });
  const std::vector<std::string>& strings = stringsOf(value);
  ASSERT_EQ(strings.size(), 4U);
  EXPECT_EQ(strings[0], "640");
  EXPECT_EQ(strings[1], "700");
  EXPECT_TRUE(strings[2] == example().render().bytes);
  EXPECT_EQ(decodePng(strings[3]).height, 700);
}

TEST(AddFigure, AcceptsAGrid) {
  const FigureGrid grid({example(), example()});
  const event::Value value =
      writtenBy([&](SummaryWriter* writer) { writer->addFigure("grid", grid, 0); });
  EXPECT_TRUE(stringsOf(value) == (std::vector<std::string>{"960", "480", grid.render().bytes}));
}

TEST(AddFigure, RejectsAnEmptyList) {
  const testing::TempDir directory;
  SummaryWriter writer(directory.path());
  expectInvalidArgument([&] { writer.addFigure("loss", std::vector<Figure>(), 0); },
                        "addFigure \"loss\": got no figures; expected at least one");
}

TEST(AddFigure, OfANotEnabledWriterDoesNothing) {
  WriterOptions options;
  options.enabled = false;
  SummaryWriter writer("", options);
  writer.addFigure("loss", example(), 0);
  EXPECT_EQ(writer.stats().values, 0U);
}

TEST(AddFigure, WaitsForTensorsOnTheirWayFromADeviceInTheBackground) {
  FakeDevice device;
  const event::Value value = writtenBy([&](SummaryWriter* writer) {
    Figure figure;
    figure.line(device.copy({1, 3, 2}, {3})).setTitle("Loss");
    writer->addFigure("loss", figure, 0);
    device.finish();
  });
  EXPECT_TRUE(stringsOf(value)[2] == example().render().bytes);
}

TEST(AddFigure, ReportsATensorThatNeverArrives) {
  const testing::TempDir directory;
  std::vector<std::string> errors;
  WriterOptions options;
  options.onError = [&](const Status& status) { errors.push_back(status.message()); };
  FakeDevice device;
  device.fail();
  SummaryWriter writer(directory.path(), options);
  Figure figure;
  figure.line(device.copy({1, 3, 2}, {3}));
  writer.addFigure("loss", figure, 0);
  EXPECT_TRUE(writer.close().ok());
  EXPECT_THAT(errors, ::testing::ElementsAre(::testing::HasSubstr("the device was lost")));
  EXPECT_EQ(writer.stats().droppedValues, 1U);
}

}  // namespace
}  // namespace steptape
