// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/value_text.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/run_reader.h"

#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape::tools {
namespace {

using ::testing::StartsWith;

/// Makes values in the form of files.
class DescribeValue : public LogDirFixture {
 protected:
  static std::string describe(const std::string& plugin, event::Value::Data data,
                              const std::string& content = "") {
    event::Value value;
    value.data = std::move(data);
    return describeValue(value, {plugin, content, "", "", event::DataClass::kUnknown});
  }
  static event::Tensor strings(std::vector<std::string> elements) {
    const auto size = static_cast<std::int64_t>(elements.size());
    return {event::TensorType::kString, {size}, "", std::move(elements)};
  }
  static event::Tensor text(std::string element) {
    return {event::TensorType::kString, {}, "", {std::move(element)}};
  }
  template <typename Number>
  static event::Tensor numbers(event::TensorType type, std::vector<std::int64_t> shape,
                               const std::vector<Number>& elements) {
    event::Tensor tensor = std::get<event::Tensor>(tensorValue("", type, elements).data);
    tensor.shape = std::move(shape);
    return tensor;
  }
};

TEST_F(DescribeValue, NamesTheFormatOfImages) {
  EXPECT_EQ(describe(event::kImagesPlugin, strings({"28", "14", "\x89PNG\r\n\x1a\n"})),
            "28x14 PNG");
  EXPECT_EQ(
      describe(event::kImagesPlugin, strings({"28", "14", "\x89PNG\r\n\x1a\n....IHDR....acTL"})),
      "28x14 animated PNG");
  EXPECT_EQ(describe(event::kImagesPlugin, strings({"28", "14", "GIF89a"})), "28x14 GIF");
  EXPECT_EQ(describe(event::kImagesPlugin, strings({"28", "14", "\xff\xd8\xff"})), "28x14 JPEG");
  EXPECT_EQ(describe(event::kImagesPlugin, strings({"28", "14", "?"})), "28x14");
}

TEST_F(DescribeValue, CountsImages) {
  EXPECT_EQ(describe(event::kImagesPlugin, strings({"2", "3", "GIF89a", "GIF89a"})),
            "2 images of 2x3 GIF");
  EXPECT_EQ(describe(event::kImagesPlugin, event::SummaryImage{7, 5, 3, "GIF89a"}), "5x7 GIF");
}

TEST_F(DescribeValue, ReadsTheHeaderOfAWav) {
  // 2 channels of 16 bits at 8000 Hz: 32000 bytes a second; 48000 bytes.
  std::string wav("RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x40\x1f\0\0\0\x7d\0\0\x04\0\x10\0",
                  36);
  wav += std::string("data\x80\xbb\0\0", 8);
  EXPECT_EQ(describe(event::kAudioPlugin, strings({wav}), event::audioPluginContent()),
            "8000 Hz stereo, 1.5 s");
  EXPECT_EQ(describe(event::kAudioPlugin, strings({"?", "?"}), event::audioPluginContent()),
            "2 clips, audio/wav");
}

TEST_F(DescribeValue, UsesTheFieldsOfSummaryAudio) {
  EXPECT_EQ(describe(event::kAudioPlugin, event::SummaryAudio{16000, 1, 8000, "?", "audio/ogg"}),
            "16000 Hz mono, 0.5 s");
}

TEST_F(DescribeValue, ShowsTheFirstLineOfAText) {
  EXPECT_EQ(describe(event::kTextPlugin, text("short")), "\"short\"");
  EXPECT_EQ(describe(event::kTextPlugin, text("# Title\nmore")), "\"# Title\" ...");
  EXPECT_EQ(describe(event::kTextPlugin, strings({"a", "b"})), "table 2");
}

TEST_F(DescribeValue, SummarizesHistograms) {
  EXPECT_EQ(describe(event::kHistogramsPlugin,
                     numbers<double>(event::TensorType::kDouble, {2, 3}, {-1, 0, 3, 0, 2.5, 4})),
            "-1 to 2.5, 7 numbers, 2 buckets");
  EXPECT_EQ(
      describe(event::kHistogramsPlugin, numbers<double>(event::TensorType::kDouble, {0, 3}, {})),
      "empty");
}

TEST_F(DescribeValue, CountsThresholds) {
  EXPECT_EQ(describe(event::kPrCurvesPlugin,
                     numbers(event::TensorType::kFloat, {6, 5}, std::vector<float>(30))),
            "5 thresholds");
}

TEST_F(DescribeValue, NamesThePartOfAMesh) {
  const std::string faces =
      event::meshPluginContent({"m", event::MeshPart::kFace, {event::MeshPart::kFace}, {1, 2, 3}});
  EXPECT_EQ(describe(event::kMeshPlugin,
                     numbers(event::TensorType::kInt32, {1, 2, 3}, std::vector<int>(6)), faces),
            "2 faces");
  EXPECT_EQ(describe(event::kMeshPlugin,
                     numbers(event::TensorType::kInt32, {2, 1, 3}, std::vector<int>(6)), faces),
            "2 x 1 faces");
}

TEST_F(DescribeValue, CountsCharts) {
  const CustomScalarsLayout layout{{{"a",
                                     {CustomScalarsChart::multiline("x", {"loss"}),
                                      CustomScalarsChart::multiline("y", {"loss"})}}}};
  EXPECT_EQ(describe(event::kCustomScalarsPlugin, text(encodeLayout(layout))),
            "2 charts in 1 category");
}

TEST_F(DescribeValue, ShowsHyperparameters) {
  HparamsSessionStart start;
  start.hparams = {{"lr", 0.1}, {"opt", "sgd"}, {"amp", true}};
  EXPECT_EQ(describe(event::kHparamsPlugin, {}, encodeHparamsContent(start)),
            "lr=0.1 opt=sgd amp=true");
  EXPECT_EQ(describe(event::kHparamsPlugin, {},
                     encodeHparamsContent(HparamsSessionEnd{SessionStatus::kFailure, 0})),
            "failed");
  HparamsExperiment experiment;
  experiment.metrics = {{"accuracy"}};
  EXPECT_EQ(describe(event::kHparamsPlugin, {}, encodeHparamsContent(experiment)),
            "0 hyperparameters, 1 metric");
}

TEST_F(DescribeValue, ShowsTheSizeOfAGraph) {
  EXPECT_EQ(describe(kGraphsPlugin, text(std::string(2048, 'g'))), "2.00 KiB");
}

TEST_F(DescribeValue, ShowsTypeAndShapeOfOtherTensors) {
  EXPECT_EQ(describe("tensor", numbers(event::TensorType::kInt32, {2, 3}, std::vector<int>(6))),
            "int32 2x3");
  EXPECT_EQ(describe("mine", numbers<double>(event::TensorType::kDouble, {}, {1})),
            "float64 scalar");
}

TEST_F(DescribeValue, ReportsAValueOfAnotherKind) {
  EXPECT_THAT(describe(event::kImagesPlugin, strings({"28"})),
              StartsWith("not readable: images: got"));
  EXPECT_THAT(describe(event::kHparamsPlugin, {}, "\xff"), StartsWith("not readable: "));
}

TEST_F(DescribeValue, CountsOneNumberAsOne) {
  EXPECT_EQ(describe(event::kHistogramsPlugin,
                     numbers<double>(event::TensorType::kDouble, {1, 3}, {0, 1, 1})),
            "0 to 1, 1 number, 1 bucket");
}

TEST_F(DescribeValue, NamesCountsOfAHistogramThatAreNotNumbers) {
  const double nan = std::nan("");
  EXPECT_EQ(describe(event::kHistogramsPlugin,
                     numbers<double>(event::TensorType::kDouble, {2, 3}, {0, 1, nan, 1, 2, 3})),
            "0 to 2, 3 numbers, 2 buckets, 1 with the count NaN");
  EXPECT_EQ(
      describe(event::kHistogramsPlugin, event::SummaryHistogram{0, 2, 0, 0, 0, {1, 2}, {nan, 3}}),
      "0 to 2, 3 numbers, 2 buckets, 1 with the count NaN");
}

TEST_F(DescribeValue, NamesTheFormatsOfPictures) {
  EXPECT_EQ(describe(event::kImagesPlugin, event::SummaryImage{4, 4, 3, "BM123456"}), "4x4 BMP");
  EXPECT_EQ(describe(event::kImagesPlugin, event::SummaryImage{4, 4, 3, "RIFF1234WEBP"}),
            "4x4 WebP");
}

TEST_F(DescribeValue, SaysHowLargeAKerasModelIs) {
  EXPECT_EQ(describe("graph_keras_model", text(std::string(2048, 'm'))), "Keras model of 2.00 KiB");
  EXPECT_EQ(describe("mine", text(std::string(20, 'm'))), "string of 20 B");
}

TEST_F(DescribeValue, SaysThatAValueIsMissing) {
  event::Tensor empty;
  empty.type = event::TensorType::kFloat;
  EXPECT_EQ(describe(event::kScalarsPlugin, empty), "no value");
  empty.shape = {1};
  EXPECT_EQ(describe("mine", empty), "no value");
}

}  // namespace
}  // namespace steptape::tools
