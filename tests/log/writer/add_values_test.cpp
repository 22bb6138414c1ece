// SPDX-License-Identifier: Apache-2.0
//
// Sounds, texts, tensors, PR curves, meshes and custom-scalar layouts, from the call to the file.
#include <cstring>
#include <limits>
#include <thread>

#include "steptape/events/plugin_content.h"
#include "steptape/log/summary_writer.h"

#include "log/writer/fake_device.h"
#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"
#include "support/expect_error.h"
#include "values/kinds/audio/audio.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using test::expectInvalidArgument;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const event::Tensor& tensorOf(const event::Value& value) {
  return std::get<event::Tensor>(value.data);
}

/// Returns the WAV file of a sound in the default form.
const std::string& soundOf(const event::Value& value) {
  return std::get<event::SummaryAudio>(value.data).encoded;
}

template <typename T>
std::vector<T> elementsOf(const event::Value& value) {
  const std::string& content = tensorOf(value).content;
  std::vector<T> elements(content.size() / sizeof(T));
  std::memcpy(elements.data(), content.data(), content.size());
  return elements;
}

class AddValues : public WriterFixture {
 protected:
  std::vector<event::Value> written(SummaryWriter* writer) {
    expectOk(writer->close());
    return valuesIn(dir_.string());
  }

  FakeDevice device_;
};

TEST_F(AddValues, AddAudioWritesAWavFile) {
  SummaryWriter writer = open();
  const std::vector<std::int16_t> samples = {1, 2, 3, 4};
  AudioOptions options;
  options.sampleRate = 8000;
  options.displayName = "Tone";
  options.description = "440 Hz";
  options.wallTime = 123.5;
  writer.addAudio("tone", TensorView(samples.data(), {2, 2}), 7, options);

  const std::vector<event::Value> values = written(&writer);
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_EQ(values[0].tag, "tone");
  EXPECT_EQ(values[0].metadata->displayName, "Tone");
  EXPECT_EQ(values[0].metadata->description, "440 Hz");
  EXPECT_EQ(soundOf(values[0]), detail::values::encodeWav({samples.data(), {2, 2}}, options).bytes);
  const event::Event event = eventsIn(dir_.string()).back();
  EXPECT_EQ(event.step, 7);
  EXPECT_EQ(event.wallTime, 123.5);
}

TEST_F(AddValues, AddAudioReportsClippingOnceForEachTagWithItsCount) {
  SummaryWriter writer = open();
  const std::vector<float> loud = {0, 2, -3, 0.5F};
  const std::vector<float> louder = {2, 2, 2, 2};
  writer.addAudio("a", loud, 0);
  writer.addAudio("a", louder, 1);
  writer.addAudio("b", std::vector<float>{1, -1}, 0);
  writer.addAudio("c", louder, 0);
  EXPECT_THAT(
      reports(),
      ElementsAre("addAudio \"a\": got 2 of 4 samples outside -1..1 or NaN; they are clipped",
                  "addAudio \"c\": got 4 of 4 samples outside -1..1 or NaN; they are "
                  "clipped"));
}

TEST_F(AddValues, AMistakeIsThrownOnTheCallerAndWritesNothing) {
  SummaryWriter writer = open();
  const std::vector<float> nine(9);
  const TensorView triangle(nine.data(), {3, 3});
  AudioOptions audio;
  audio.dataFormat = "XY";
  PrCurveCounts counts;
  MeshOptions mesh;
  mesh.configJson = "no";
  EXPECT_THROW(writer.addAudio("tag", triangle, 0, audio), Error);
  EXPECT_THROW(writer.addTextTable("tag", std::vector<std::string>(), 0), Error);
  EXPECT_THROW(writer.addPrCurve("tag", nine, std::vector<float>(8), 0), Error);
  EXPECT_THROW(writer.addPrCurve("tag", nine, std::vector<float>(9, 1.5F), 0), Error);
  EXPECT_THROW(writer.addPrCurveRaw("tag", counts, 0), Error);
  EXPECT_THROW(writer.addMesh("tag", triangle, 0, mesh), Error);
  EXPECT_THROW(writer.addCustomScalars({}), Error);
  EXPECT_THROW(writer.addTensor("", nine, 0), Error);
  EXPECT_THAT(written(&writer), IsEmpty());
}

TEST_F(AddValues, AShapeIsTheCallersMistakeAlsoWhileTheElementsAreInFlight) {
  SummaryWriter writer = open();
  const TensorView late = device_.copy(std::vector<float>(8), {2, 2, 2});
  MeshOptions faces;
  faces.faces = device_.copy({0, 1, 2}, {1, 1, 3});
  EXPECT_THROW(writer.addAudio("tag", late, 0), Error);
  EXPECT_THROW(writer.addPrCurve("tag", late, std::vector<float>(7), 0), Error);
  EXPECT_THROW(writer.addMesh("tag", late, 0), Error);
  EXPECT_THROW(writer.addMesh("tag", device_.copy(std::vector<float>(9), {3, 3}), 0, faces), Error);
  EXPECT_THAT(written(&writer), IsEmpty());
}

TEST_F(AddValues, AddTextTableTakesRowsAndColumns) {
  SummaryWriter writer = open();
  const std::vector<std::string> rows = {"one", "two"};
  const std::vector<std::vector<std::string>> cells = {{"a", "b", "c"}, {"d", "e", "f"}};
  writer.addTextTable("rows", rows, 0);
  TextOptions options;
  options.displayName = "Cells";
  writer.addTextTable("cells", cells, 0, options);

  const std::vector<event::Value> values = written(&writer);
  ASSERT_THAT(values, SizeIs(2));
  EXPECT_THAT(tensorOf(values[0]).shape, ElementsAre(2));
  EXPECT_THAT(tensorOf(values[0]).strings, ElementsAre("one", "two"));
  EXPECT_THAT(tensorOf(values[1]).shape, ElementsAre(2, 3));
  EXPECT_THAT(tensorOf(values[1]).strings, ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_EQ(values[1].metadata->displayName, "Cells");
}

// Without separate overloads, the first two do not compile: two literals may be two iterators.
TEST_F(AddValues, AddTextTableTakesLiterals) {
  SummaryWriter writer = open();
  const std::string text = "x";
  writer.addTextTable("rows", {"a", "b"}, 0);
  writer.addTextTable("cells", {{"a", "b"}, {"c", "d"}}, 0);
  writer.addTextTable("texts", {{text, "b"}, {"c", text}}, 0);
  writer.addTextTable("texts", {text, "b", text}, 1);

  const std::vector<event::Value> values = written(&writer);
  ASSERT_THAT(values, SizeIs(4));
  EXPECT_THAT(tensorOf(values[0]).shape, ElementsAre(2));
  EXPECT_THAT(tensorOf(values[0]).strings, ElementsAre("a", "b"));
  EXPECT_THAT(tensorOf(values[1]).shape, ElementsAre(2, 2));
  EXPECT_THAT(tensorOf(values[1]).strings, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(tensorOf(values[2]).strings, ElementsAre("x", "b", "c", "x"));
  EXPECT_THAT(tensorOf(values[3]).strings, ElementsAre("x", "b", "x"));
}

TEST_F(AddValues, AddTensorHasTakenTheElementsWhenItReturns) {
  SummaryWriter writer = open();
  std::vector<std::int32_t> numbers = {1, 2, 3, 4, 5, 6};
  ValueOptions options;
  options.description = "transposed";
  writer.addTensor("raw", TensorView(numbers.data(), {2, 3}, {1, 2}), 3, options);
  numbers.assign(numbers.size(), 0);

  const std::vector<event::Value> values = written(&writer);
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_EQ(tensorOf(values[0]).type, event::TensorType::kInt32);
  EXPECT_THAT(tensorOf(values[0]).shape, ElementsAre(2, 3));
  EXPECT_THAT(elementsOf<std::int32_t>(values[0]), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_EQ(values[0].metadata->pluginName, "tensor");
  EXPECT_EQ(values[0].metadata->description, "transposed");
}

TEST_F(AddValues, AddPrCurveCountsWithWeights) {
  SummaryWriter writer = open();
  const std::vector<int> labels = {1, 0};
  const std::vector<float> predictions = {1, 0.5F};
  const std::vector<float> weights = {3, 2};
  PrCurveOptions options;
  options.numThresholds = 3;
  options.weights = weights;
  options.displayName = "PR";
  writer.addPrCurve("pr", labels, predictions, 0, options);

  const std::vector<event::Value> values = written(&writer);
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_THAT(tensorOf(values[0]).shape, ElementsAre(6, 3));
  EXPECT_THAT(elementsOf<float>(values[0]),
              ElementsAreArray({3.0F, 3.0F, 3.0F, 2.0F, 2.0F, 0.0F, 0.0F, 0.0F, 2.0F,  //
                                0.0F, 0.0F, 0.0F, 0.6F, 0.6F, 1.0F, 1.0F, 1.0F, 1.0F}));
  EXPECT_EQ(values[0].metadata->displayName, "PR");
}

TEST_F(AddValues, AddPrCurveRawWritesWhatWasCounted) {
  SummaryWriter writer = open();
  writer.addPrCurveRaw("pr", {{2, 1}, {3, 0}, {0, 3}, {0, 1}, {0.5, 1}, {1, 0.5}}, 4);
  const std::vector<event::Value> values = written(&writer);
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_THAT(elementsOf<float>(values[0]),
              ElementsAreArray({2.0F, 1.0F, 3.0F, 0.0F, 0.0F, 3.0F,  //
                                0.0F, 1.0F, 0.5F, 1.0F, 1.0F, 0.5F}));
  EXPECT_EQ(eventsIn(dir_.string()).back().step, 4);
}

TEST_F(AddValues, AddMeshReportsWhatABrowserDoesNotShow) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> vertices = {nan, 0, 0, 1, 0, 0, 0, 1, 0};
  const std::vector<float> colors = {0, 255, 0, 1, 0, 0, 0, 1, nan};
  MeshOptions options;
  options.colors = TensorView(colors.data(), {3, 3});
  SummaryWriter writer = open();
  for (std::int64_t step = 0; step < 2; ++step) {
    writer.addMesh("mesh", TensorView(vertices.data(), {3, 3}), step, options);
  }
  EXPECT_EQ(reports(), (std::vector<std::string>{
                           "addMesh \"mesh\": got 1 coordinates that are NaN or infinite; expected "
                           "finite ones: a browser does not show the mesh",
                           "colors of mesh \"mesh\": got 1 NaN elements; they are shown as 0",
                           "colors of mesh \"mesh\": got floating-point colors up to 255; expected "
                           "0 to 1: they are clipped, and further ones are not reported. For 0 to "
                           "255, pass uint8 or divide by 255"}));
}

TEST_F(AddValues, AddMeshWritesItsPartsInOneEvent) {
  SummaryWriter writer = open();
  const std::vector<float> vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const std::vector<std::uint8_t> colors = {255, 0, 0, 0, 255, 0, 0, 0, 255};
  const std::vector<std::int64_t> faces = {0, 1, 2};
  MeshOptions options;
  options.colors = TensorView(colors.data(), {3, 3});
  options.faces = TensorView(faces.data(), {1, 3});
  options.configJson = R"({"material": {}})";
  writer.addMesh("mesh", TensorView(vertices.data(), {3, 3}), 2, options);
  ASSERT_TRUE(writer.close().ok());

  const event::Event event = eventsIn(dir_.string()).back();
  EXPECT_EQ(event.step, 2);
  const std::vector<event::Value> values = std::get<event::Summary>(event.what).values;
  ASSERT_THAT(values, SizeIs(3));
  EXPECT_EQ(values[0].tag, "mesh_VERTEX");
  EXPECT_EQ(elementsOf<float>(values[0]), vertices);
  EXPECT_EQ(values[1].tag, "mesh_FACE");
  EXPECT_THAT(elementsOf<std::int32_t>(values[1]), ElementsAre(0, 1, 2));
  EXPECT_EQ(values[2].tag, "mesh_COLOR");
  EXPECT_EQ(elementsOf<std::uint8_t>(values[2]), colors);
  for (const event::Value& value : values) {
    EXPECT_THAT(value.metadata->pluginContent, HasSubstr(R"({"material": {}})"));
  }
}

TEST_F(AddValues, TensorsInFlightAreTakenWhenTheyArrive) {
  SummaryWriter writer = open();
  std::vector<std::uint8_t> labels = {1, 0};
  std::vector<std::uint8_t> colors = {1, 2, 3};
  std::vector<std::int32_t> faces = {0, 0, 0};
  AudioOptions audio;
  audio.encoding = AudioEncoding::kFloat32;
  PrCurveOptions curve;
  curve.numThresholds = 2;
  curve.weights = device_.copy({4, 5}, {2});
  MeshOptions mesh;
  mesh.colors = TensorView(colors.data(), {1, 3});
  mesh.faces = TensorView(faces.data(), {1, 3});
  writer.addAudio("sound", device_.copy({0.5F, 2}, {2}), 0, audio);
  writer.addTensor("raw", device_.copy({7, 8}, {2}), 1);
  writer.addPrCurve("pr", labels, device_.copy({1, 0}, {2}), 2, curve);
  writer.addMesh("mesh", device_.copy({1, 2, 3}, {1, 3}), 3, mesh);
  // Tensors that were in memory are free for the caller again.
  labels = {0, 1};
  colors = {9, 9, 9};
  faces = {-1, -1, -1};
  device_.finish();

  const std::vector<event::Value> values = written(&writer);
  ASSERT_THAT(values, SizeIs(6));
  EXPECT_EQ(soundOf(values[0]),
            detail::values::encodeWav(std::vector<float>{0.5F, 2}, audio).bytes);
  EXPECT_THAT(elementsOf<float>(values[1]), ElementsAre(7, 8));
  EXPECT_THAT(elementsOf<float>(values[2]), ElementsAre(4, 4, 5, 0, 0, 5, 0, 0, 4.0F / 9, 1, 1, 1));
  EXPECT_THAT(elementsOf<float>(values[3]), ElementsAre(1, 2, 3));
  EXPECT_THAT(elementsOf<std::int32_t>(values[4]), ElementsAre(0, 0, 0));
  EXPECT_THAT(elementsOf<std::uint8_t>(values[5]), ElementsAre(1, 2, 3));
}

TEST_F(AddValues, AWriterThatIsNotEnabledWritesNothing) {
  WriterOptions options;
  options.enabled = false;
  SummaryWriter writer = open(options);
  const std::vector<float> nine(9);
  writer.addAudio("tag", nine, 0);
  writer.addTextTable("tag", {"a", "b"}, 0);
  writer.addTensor("tag", nine, 0);
  writer.addPrCurve("tag", nine, nine, 0);
  writer.addMesh("tag", TensorView(nine.data(), {3, 3}), 0);
  writer.addCustomScalarsMultilineChart({"a"});
  EXPECT_TRUE(writer.close().ok());
  EXPECT_THAT(eventFilesIn(dir_.string()), IsEmpty());
}

/// Returns the titles of the last layout in a run: "category/chart category/chart ...".
std::string lastLayout(const std::vector<event::Value>& values) {
  CustomScalarsLayout layout;
  EXPECT_EQ(values.back().tag, "custom_scalars__config__");
  EXPECT_TRUE(decodeLayout(tensorOf(values.back()).strings.at(0), &layout).ok());
  std::string text;
  for (const CustomScalarsCategory& category : layout.categories) {
    for (const CustomScalarsChart& chart : category.charts) {
      text += (text.empty() ? "" : " ") + category.title + "/" + chart.title;
    }
  }
  return text;
}

TEST_F(AddValues, LayoutsOfSeveralCallsAddUp) {
  SummaryWriter writer = open();
  writer.addCustomScalars({{{"loss", {CustomScalarsChart::multiline("all", {"loss/.*"})}}}});
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_EQ(lastLayout(valuesIn(dir_.string())), "loss/all");
  writer.addCustomScalarsMarginChart({"mean", "min", "max"}, "loss", "band");
  writer.addCustomScalarsMultilineChart({"speed"});
  writer.addCustomScalarsMultilineChart({"throughput"});
  EXPECT_EQ(lastLayout(written(&writer)), "loss/all loss/band default/untitled");
}

TEST_F(AddValues, TheLastLayoutHoldsTheChartsOfAllThreads) {
  constexpr int kThreads = 4;
  constexpr int kCharts = 25;
  SummaryWriter writer = open();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&writer, i] {
      for (int chart = 0; chart < kCharts; ++chart) {
        writer.addCustomScalarsMultilineChart({"tag"}, "category",
                                              std::to_string(i * kCharts + chart));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CustomScalarsLayout layout;
  const std::vector<event::Value> values = written(&writer);
  ASSERT_THAT(values, SizeIs(kThreads * kCharts));
  ASSERT_TRUE(decodeLayout(tensorOf(values.back()).strings.at(0), &layout).ok());
  ASSERT_THAT(layout.categories, SizeIs(1));
  EXPECT_THAT(layout.categories[0].charts, SizeIs(kThreads * kCharts));
}

TEST_F(AddValues, ShorthandsRejectEmptyTags) {
  SummaryWriter writer = open();
  expectInvalidArgument(
      [&] { writer.addCustomScalarsMultilineChart({}); },
      "addCustomScalars: got neither tags nor margins in chart \"untitled\"; expected one of them");
  expectInvalidArgument(
      [&] {
        writer.addCustomScalarsMarginChart({"mean", "min", ""});
      },
      "addCustomScalars: got an empty tag in chart \"untitled\"; expected a tag");
  EXPECT_THAT(written(&writer), IsEmpty());
}

}  // namespace
}  // namespace steptape
