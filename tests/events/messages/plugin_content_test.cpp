// SPDX-License-Identifier: Apache-2.0
#include "steptape/events/plugin_content.h"

#include "base/unhex.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

// The golden bytes below are SummaryMetadata.plugin_data.content of each plugin's
// create_summary_metadata() in TensorBoard 2.21.

TEST(AudioPluginContent, DeclaresAWavFile) {
  EXPECT_EQ(event::audioPluginContent(), unhex("100b"));
}

TEST(DecodeAudioPluginContent, ReportsWhetherTheFileIsWav) {
  bool isWav = false;
  ASSERT_TRUE(event::decodeAudioPluginContent(unhex("100b"), &isWav).ok());
  EXPECT_TRUE(isWav);
  ASSERT_TRUE(event::decodeAudioPluginContent("", &isWav).ok());
  EXPECT_FALSE(isWav);
}

TEST(DecodeAudioPluginContent, RejectsOtherBytes) {
  bool isWav = false;
  const Status status = event::decodeAudioPluginContent("\x10", &isWav);
  EXPECT_EQ(status.code(), ErrorCode::kDataLoss);
  EXPECT_EQ(status.message(),
            "audio record: got 1 other bytes; expected a message AudioPluginData");
}

TEST(PrCurvePluginContent, HoldsMoreThresholdsThanOneByteDoes) {
  EXPECT_EQ(event::prCurvePluginContent(127), unhex("107f"));
  EXPECT_EQ(event::prCurvePluginContent(201), unhex("10c901"));
}

TEST(MeshPluginContent, HoldsTheBitsOfAllParts) {
  event::MeshPluginData data;
  data.name = "cloud";
  data.parts = {event::MeshPart::kVertex, event::MeshPart::kFace, event::MeshPart::kColor};
  data.shape = {1, 4, 3};
  data.part = event::MeshPart::kVertex;
  EXPECT_EQ(event::meshPluginContent(data), unhex("1205636c6f756418012a027b7d3203010403380e"));
  data.part = event::MeshPart::kFace;
  EXPECT_EQ(event::meshPluginContent(data), unhex("1205636c6f756418022a027b7d3203010403380e"));
  data.part = event::MeshPart::kColor;
  EXPECT_EQ(event::meshPluginContent(data), unhex("1205636c6f756418032a027b7d3203010403380e"));
}

TEST(MeshPluginContent, HoldsTheShapeAndTheSettings) {
  event::MeshPluginData data;
  data.name = "cloud";
  data.parts = {event::MeshPart::kVertex};
  data.shape = {2, 300, 3};
  data.jsonConfig = R"({"a": 1})";
  EXPECT_EQ(event::meshPluginContent(data),
            unhex("1205636c6f756418012a087b2261223a20317d320402ac02033802"));
}

TEST(DecodeMeshPluginContent, ReadsWhatTensorBoardWrote) {
  event::MeshPluginData data;
  // Left over from an earlier call.
  data.shape = {7};
  data.parts = {event::MeshPart::kColor};
  ASSERT_TRUE(event::decodeMeshPluginContent(
                  unhex("1205636c6f756418022a087b2261223a20317d32030102033806"), &data)
                  .ok());
  EXPECT_EQ(data.name, "cloud");
  EXPECT_EQ(data.part, event::MeshPart::kFace);
  EXPECT_EQ(data.parts,
            (std::vector<event::MeshPart>{event::MeshPart::kVertex, event::MeshPart::kFace}));
  EXPECT_EQ(data.shape, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(data.jsonConfig, R"({"a": 1})");
}

// TensorBoard's parse_plugin_metadata() gives these bytes the components 14: all three.
TEST(DecodeMeshPluginContent, TreatsAnOldRecordAsAllParts) {
  event::MeshPluginData data;
  ASSERT_TRUE(event::decodeMeshPluginContent(unhex("1205636c6f756418013203010103"), &data).ok());
  EXPECT_EQ(data.parts,
            (std::vector<event::MeshPart>{event::MeshPart::kVertex, event::MeshPart::kFace,
                                          event::MeshPart::kColor}));
}

TEST(DecodeMeshPluginContent, ReportsOtherBytes) {
  event::MeshPluginData data;
  EXPECT_EQ(event::decodeMeshPluginContent("\x12\x7f", &data).message(),
            "mesh record: got 2 other bytes; expected a message MeshPluginData");
  EXPECT_EQ(event::decodeMeshPluginContent("", &data).message(),
            "mesh record: got part 0; expected 1 (vertices), 2 (faces) or 3 (colors)");
}

// The example of torch's add_custom_scalars() as torch 2.13 encodes it.
const char* const kLayout =
    "12280a0654616977616e121e0a047477736512160a09747773652f303035300a09747773652f32333330125d0a0355"
    "534112240a03646f771a1d0a1b0a07646f772f6161611207646f772f6262621a07646f772f63636312300a066e6173"
    "6461711a260a240a0a6e61736461712f616161120a6e61736461712f6262621a0a6e61736461712f636363";

CustomScalarsLayout exampleLayout() {
  return {{{"Taiwan", {CustomScalarsChart::multiline("twse", {"twse/0050", "twse/2330"})}},
           {"USA",
            {CustomScalarsChart::margin("dow", {"dow/aaa", "dow/bbb", "dow/ccc"}),
             CustomScalarsChart::margin("nasdaq", {"nasdaq/aaa", "nasdaq/bbb", "nasdaq/ccc"})}}}};
}

TEST(EncodeLayout, WritesTheBytesOfTorch) {
  EXPECT_EQ(encodeLayout(exampleLayout()), unhex(kLayout));
}

TEST(DecodeLayout, ReadsWhatWasEncoded) {
  CustomScalarsLayout layout = {{{"of an earlier call", {}}}};
  ASSERT_TRUE(decodeLayout(unhex(kLayout), &layout).ok());
  ASSERT_EQ(layout.categories.size(), 2U);
  EXPECT_EQ(layout.categories[0].title, "Taiwan");
  ASSERT_EQ(layout.categories[0].charts.size(), 1U);
  EXPECT_EQ(layout.categories[0].charts[0].title, "twse");
  EXPECT_EQ(layout.categories[0].charts[0].tags,
            (std::vector<std::string>{"twse/0050", "twse/2330"}));
  EXPECT_TRUE(layout.categories[0].charts[0].margins.empty());
  ASSERT_EQ(layout.categories[1].charts.size(), 2U);
  EXPECT_EQ(layout.categories[1].charts[0].margins,
            (std::vector<std::array<std::string, 3>>{{"dow/aaa", "dow/bbb", "dow/ccc"}}));
  EXPECT_TRUE(layout.categories[1].charts[0].tags.empty());
}

TEST(DecodeLayout, ReadsWhichCategoriesAreClosed) {
  CustomScalarsLayout written = exampleLayout();
  written.categories[1].closed = true;
  CustomScalarsLayout layout;
  ASSERT_TRUE(decodeLayout(encodeLayout(written), &layout).ok());
  EXPECT_FALSE(layout.categories[0].closed);
  EXPECT_TRUE(layout.categories[1].closed);
}

TEST(DecodeLayout, RejectsOtherBytes) {
  CustomScalarsLayout layout;
  const Status status = decodeLayout("\x12\x7f", &layout);
  EXPECT_EQ(status.code(), ErrorCode::kDataLoss);
  EXPECT_EQ(status.message(),
            "custom-scalars layout: got 2 other bytes; expected a tensorboard.Layout message");
}

}  // namespace
}  // namespace steptape
