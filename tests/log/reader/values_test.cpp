// SPDX-License-Identifier: Apache-2.0
// Events below that are given as bytes are from TensorBoard 2.21 or torch 2.13, as each says.
#include "steptape/log/values.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/unhex.h"
#include "events/messages/event_codec.h"

#include <gmock/gmock.h>

namespace steptape {

// Used by the matchers of containers to compare and print.
static bool operator==(const HistogramBucket& a, const HistogramBucket& b) {
  return a.left == b.left && a.right == b.right && a.count == b.count;
}
static void PrintTo(const HistogramBucket& bucket, std::ostream* out) {
  *out << "{" << bucket.left << ", " << bucket.right << ", " << bucket.count << "}";
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns the only value of an event.
event::Value valueOf(const std::string& eventInHex) {
  event::Event event;
  const Status status = detail::events::decodeEvent(unhex(eventInHex), &event);
  EXPECT_TRUE(status.ok()) << status.message();
  return std::get<event::Summary>(event.what).values.at(0);
}

event::Value ofTensor(event::TensorType type, std::vector<std::int64_t> shape,
                      std::string content) {
  event::Value value;
  value.data = event::Tensor{type, std::move(shape), std::move(content), {}};
  return value;
}

event::Value ofStrings(std::vector<std::int64_t> shape, std::vector<std::string> strings) {
  event::Value value;
  value.data = event::Tensor{event::TensorType::kString, std::move(shape), "", std::move(strings)};
  return value;
}

template <typename Decoded>
std::string failureOf(Status (*decode)(const event::Value&, Decoded*), const event::Value& value) {
  Decoded decoded;
  const Status status = decode(value, &decoded);
  EXPECT_FALSE(status.ok());
  if (!status.ok()) {
    EXPECT_EQ(status.code(), ErrorCode::kDataLoss);
  }
  return status.message();
}

// TensorBoard 2.21, summary_pb2.Summary.Image of 4 by 3 pixels.
const char* const kSummaryImage = "2a120a10 0a0169 220b 0803 1004 1803 2203504e47";
// The result of TensorBoard 2.21's data_compat.migrate_value() for it.
const char* const kMigratedImage =
    "2a2d0a2b 0a0169 4213 0807 12041202 0803 420134 420133 4203504e47"
    "4a11 0a0c 0a06696d61676573 12021001 120169";

TEST(DecodeImages, ReadsASummaryImage) {
  ImageValue images;
  ASSERT_TRUE(decodeImages(valueOf(kSummaryImage), &images).ok());
  EXPECT_EQ(images.width, 4);
  EXPECT_EQ(images.height, 3);
  EXPECT_THAT(images.encoded, ElementsAre("PNG"));
}

TEST(DecodeImages, ReadsATensor) {
  ImageValue images;
  ASSERT_TRUE(decodeImages(valueOf(kMigratedImage), &images).ok());
  EXPECT_EQ(images.width, 4);
  EXPECT_EQ(images.height, 3);
  EXPECT_THAT(images.encoded, ElementsAre("PNG"));
}

TEST(DecodeImages, ReadsSeveralOfAStepAndNone) {
  ImageValue images;
  ASSERT_TRUE(decodeImages(ofStrings({4}, {"12", "5", "one", "two"}), &images).ok());
  EXPECT_EQ(images.width, 12);
  EXPECT_THAT(images.encoded, ElementsAre("one", "two"));
  ASSERT_TRUE(decodeImages(ofStrings({2}, {"12", "5"}), &images).ok());
  EXPECT_THAT(images.encoded, IsEmpty());
}

TEST(DecodeImages, ReportsInvalidValues) {
  EXPECT_EQ(failureOf(decodeImages, event::Value()), "images: got no data; expected a tensor");
  EXPECT_EQ(failureOf(decodeImages, ofStrings({1}, {"12"})),
            "images: got shape (1); expected (n): width, height and the images");
  EXPECT_EQ(failureOf(decodeImages, ofStrings({2, 2}, {"1", "2", "3", "4"})),
            "images: got shape (2, 2); expected (n): width, height and the images");
  EXPECT_EQ(failureOf(decodeImages, ofStrings({3}, {"12px", "5", "one"})),
            "width of images: got 4 other bytes; expected a decimal number of pixels");
  EXPECT_EQ(failureOf(decodeImages, ofStrings({3}, {"12", "", "one"})),
            "height of images: got 0 other bytes; expected a decimal number of pixels");
  EXPECT_EQ(failureOf(decodeImages, ofTensor(event::TensorType::kUInt8, {3}, "abc")),
            "images: got element type 4; expected strings, type 7");
}

// TensorBoard 2.21, summary_pb2.Summary.Audio and the result of migrate_value().
const char* const kSummaryAudio =
    "2a200a1e 0a0161 3219 0d0000fa45 1002 1807 2203574156 2a09617564696f2f776176";
const char* const kMigratedAudio =
    "2a2e0a2c 0a0161 4213 0807 1208 12020801 12020802 4203574156 4200"
    "4a12 0a0d 0a05617564696f 1204100b1801 120161";

TEST(DecodeAudio, ReadsACompatibleClip) {
  AudioValue audio;
  ASSERT_TRUE(decodeAudio(valueOf(kSummaryAudio), {}, &audio).ok());
  EXPECT_THAT(audio.encoded, ElementsAre("WAV"));
  EXPECT_EQ(audio.contentType, "audio/wav");
  EXPECT_EQ(audio.sampleRate, 8000);
  EXPECT_EQ(audio.frames, 7);
  EXPECT_EQ(audio.channels, 2);
}

TEST(DecodeAudio, ReadsClipsWithoutTheirLabels) {
  const event::Value value = valueOf(kMigratedAudio);
  AudioValue audio;
  ASSERT_TRUE(decodeAudio(value, value.metadata.value(), &audio).ok());
  EXPECT_THAT(audio.encoded, ElementsAre("WAV"));
  EXPECT_EQ(audio.contentType, "audio/wav");
  EXPECT_FALSE(audio.sampleRate || audio.frames || audio.channels);

  ASSERT_TRUE(decodeAudio(ofStrings({2, 2}, {"a", "label", "b", ""}), {}, &audio).ok());
  EXPECT_THAT(audio.encoded, ElementsAre("a", "b"));
}

TEST(DecodeAudio, ReadsClipsWithoutLabelsOfAnyNumber) {
  AudioValue audio;
  ASSERT_TRUE(decodeAudio(ofStrings({3}, {"a", "b", "c"}), {}, &audio).ok());
  EXPECT_THAT(audio.encoded, ElementsAre("a", "b", "c"));
  EXPECT_EQ(audio.contentType, "application/octet-stream");
  ASSERT_TRUE(decodeAudio(ofStrings({0, 2}, {}), {}, &audio).ok());
  EXPECT_THAT(audio.encoded, IsEmpty());
}

TEST(DecodeAudio, ReportsInvalidValues) {
  AudioValue audio;
  EXPECT_EQ(decodeAudio(ofStrings({}, {"a"}), {}, &audio).message(),
            "audio: got shape (); expected (clips) or (clips, 2): clip and label");
  event::SummaryMetadata metadata;
  metadata.pluginContent = "\x10";
  EXPECT_EQ(decodeAudio(ofStrings({1}, {"a"}), metadata, &audio).message(),
            "audio record: got 1 other bytes; expected a message AudioPluginData");
}

TEST(DecodeText, ReadsOneTextAndATable) {
  // TensorBoard 2.21, text.summary_v2.text_pb() of "hello" and of [["a", "b"], ["c", "d"]].
  TextValue text;
  ASSERT_TRUE(decodeText(valueOf("2a1c0a1a 0a0174 420b 0807 1200 420568656c6c6f"
                                 "4a08 0a06 0a0474657874"),
                         &text)
                  .ok());
  EXPECT_THAT(text.shape, IsEmpty());
  EXPECT_THAT(text.strings, ElementsAre("hello"));
  ASSERT_TRUE(decodeText(valueOf("2a290a27 0a0174 4218 0807 1208 12020802 12020802"
                                 "420161 420162 420163 420164 4a08 0a06 0a0474657874"),
                         &text)
                  .ok());
  EXPECT_THAT(text.shape, ElementsAre(2, 2));
  EXPECT_THAT(text.strings, ElementsAre("a", "b", "c", "d"));
}

TEST(DecodeText, ReportsInvalidValues) {
  EXPECT_EQ(failureOf(decodeText, valueOf(kSummaryImage)),
            "text: got the field image; expected a tensor");
  EXPECT_EQ(failureOf(decodeText, ofStrings({2}, {"a"})),
            "text: got 1 strings; expected the elements of shape (2)");
}

TEST(DecodeHistogram, ReadsATensor) {
  // TensorBoard 2.21, histogram.summary_v2.histogram_pb() of [1, 2, 2, 4] in three buckets.
  HistogramValue histogram;
  ASSERT_TRUE(decodeHistogram(valueOf("2a6d0a6b 0a0168 4256 0802 1208 12020803 12020803 2248"
                                      "000000000000f03f 0000000000000040 000000000000f03f"
                                      "0000000000000040 0000000000000840 0000000000000040"
                                      "0000000000000840 0000000000001040 000000000000f03f"
                                      "4a0e 0a0c 0a0a686973746f6772616d73"),
                              &histogram)
                  .ok());
  EXPECT_THAT(histogram.buckets, ElementsAre(HistogramBucket{1, 2, 1}, HistogramBucket{2, 3, 2},
                                             HistogramBucket{3, 4, 1}));
}

TEST(DecodeHistogram, ReadsBinary32) {
  HistogramValue histogram;
  const std::string row = unhex("0000803f 00000040 00004040");
  ASSERT_TRUE(decodeHistogram(ofTensor(event::TensorType::kFloat, {1, 3}, row), &histogram).ok());
  EXPECT_THAT(histogram.buckets, ElementsAre(HistogramBucket{1, 2, 3}));
}

// The expected buckets are those of TensorBoard 2.21's data_compat.migrate_value().
TEST(DecodeHistogram, GivesACompatibleOneFiniteEdges) {
  event::SummaryHistogram compatible;
  compatible.min = -1.5;
  compatible.max = 2.5;
  compatible.bucketLimits = {-2, -1, 0, 1, 2, std::numeric_limits<double>::max()};
  compatible.bucketCounts = {0, 1, 0, 3, 0, 2};
  event::Value value;
  value.data = compatible;
  HistogramValue histogram;
  ASSERT_TRUE(decodeHistogram(value, &histogram).ok());
  EXPECT_THAT(histogram.buckets, ElementsAre(HistogramBucket{-1.5, -1, 1},
                                             HistogramBucket{-1, 0, 0}, HistogramBucket{0, 1, 3},
                                             HistogramBucket{1, 2, 0}, HistogramBucket{2, 2.5, 2}));
}

TEST(DecodeHistogram, KeepsTheExactNumbersOfACompatibleOne) {
  event::Value value;
  value.data =
      event::SummaryHistogram{0.1, 16777217, 16777217, 0, 0, {0.5, 1}, {16777216, 16777217}};
  HistogramValue histogram;
  ASSERT_TRUE(decodeHistogram(value, &histogram).ok());
  EXPECT_THAT(histogram.buckets, ElementsAre(HistogramBucket{0.1, 0.5, 16777216},
                                             HistogramBucket{0.5, 16777217, 16777217}));
}

TEST(DecodeHistogram, ReturnsNoBucketsForAnEmptyCompatibleHistogram) {
  HistogramValue histogram;
  histogram.buckets = {{1, 2, 3}};
  event::Value value;
  value.data = event::SummaryHistogram{0, 0, 0, 0, 0, {1, 2}, {0, 0}};
  ASSERT_TRUE(decodeHistogram(value, &histogram).ok());
  EXPECT_THAT(histogram.buckets, IsEmpty());
}

TEST(DecodeHistogram, NeedsOnlyTheInnerLimitsOfACompatibleOne) {
  const auto compatible = [](std::vector<double> limits, std::vector<double> counts) {
    event::Value value;
    value.data = event::SummaryHistogram{1, 2, 0, 0, 0, std::move(limits), std::move(counts)};
    return value;
  };
  HistogramValue histogram;
  ASSERT_TRUE(decodeHistogram(compatible({1}, {0, 0, 1, 0}), &histogram).ok());
  EXPECT_THAT(histogram.buckets, ElementsAre(HistogramBucket{1, 2, 1}));
  ASSERT_TRUE(decodeHistogram(compatible({1.5}, {3, 1}), &histogram).ok());
  EXPECT_THAT(histogram.buckets,
              ElementsAre(HistogramBucket{1, 1.5, 3}, HistogramBucket{1.5, 2, 1}));
  EXPECT_EQ(failureOf(decodeHistogram, compatible({1}, {1, 0, 1})),
            "histogram: got 1 limits; expected one for each of 3 buckets");
}

TEST(DecodeHistogram, ReportsInvalidValues) {
  EXPECT_EQ(
      failureOf(decodeHistogram, ofTensor(event::TensorType::kDouble, {3}, std::string(24, '\0'))),
      "histogram: got shape (3); expected (buckets, 3): left edge, right edge, count");
  EXPECT_EQ(failureOf(decodeHistogram,
                      ofTensor(event::TensorType::kDouble, {1, 4}, std::string(32, '\0'))),
            "histogram: got shape (1, 4); expected (buckets, 3): left edge, right edge, count");
  EXPECT_EQ(failureOf(decodeHistogram,
                      ofTensor(event::TensorType::kInt32, {1, 3}, std::string(12, '\0'))),
            "histogram: got element type 3; expected floats or doubles, type 1 or 2");
}

TEST(DecodeHistogram, ChecksTheShapeAgainstTheData) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const auto failure = [](std::vector<std::int64_t> shape, std::size_t bytes) {
    return failureOf(decodeHistogram, ofTensor(event::TensorType::kDouble, std::move(shape),
                                               std::string(bytes, '\0')));
  };
  EXPECT_EQ(failure({2, 3}, 47),
            "histogram: got 47 bytes; expected the elements of shape (2, 3) of 8 bytes each");
  // 8 * 3 * 2^62 is 0 in 64 bits.
  EXPECT_EQ(failure({kHuge, 3}, 0),
            "histogram: got 0 bytes; expected the elements of shape (4611686018427387904, 3) of 8 "
            "bytes each");
  EXPECT_EQ(failure({kHuge / 2, 3}, 0),
            "histogram: got 0 bytes; expected the elements of shape (2305843009213693952, 3) of 8 "
            "bytes each");
  EXPECT_EQ(failure({-1, 3}, 24),
            "histogram: got 24 bytes; expected the elements of shape (-1, 3) of 8 bytes each");
  EXPECT_EQ(failure(std::vector<std::int64_t>(1000, 2), 24),
            "histogram: got 24 bytes; expected the elements of shape of 1000 dimensions of 8 bytes "
            "each");
}

TEST(DecodePrCurve, ReadsSixRows) {
  // torch 2.13, pr_curve_raw("p", [4, 1], [3, 0], [0, 3], [0, 3], [.5, 1], [1, .25], 2).
  PrCurveValue curve;
  ASSERT_TRUE(decodePrCurve(valueOf("2a580a56 0a0170 423e 0801 1208 12020806 12020802 2a30"
                                    "00008040 0000803f 00004040 00000000 00000000 00004040"
                                    "00000000 00004040 0000003f 0000803f 0000803f 0000803e"
                                    "4a11 0a0f 0a0970725f637572766573 12021002"),
                            &curve)
                  .ok());
  EXPECT_THAT(curve.truePositives, ElementsAre(4, 1));
  EXPECT_THAT(curve.falsePositives, ElementsAre(3, 0));
  EXPECT_THAT(curve.trueNegatives, ElementsAre(0, 3));
  EXPECT_THAT(curve.falseNegatives, ElementsAre(0, 3));
  EXPECT_THAT(curve.precision, ElementsAre(0.5, 1));
  EXPECT_THAT(curve.recall, ElementsAre(1, 0.25));
}

TEST(DecodePrCurve, ReportsInvalidValues) {
  EXPECT_EQ(
      failureOf(decodePrCurve, ofTensor(event::TensorType::kFloat, {5, 1}, std::string(20, '\0'))),
      "PR curve: got shape (5, 1); expected (6, thresholds)");
  EXPECT_EQ(failureOf(decodePrCurve, valueOf(kSummaryAudio)),
            "PR curve: got the field audio; expected a tensor");
}

TEST(DecodeMesh, ReadsAPart) {
  // torch 2.13, the vertices of mesh() of two points and their colors.
  const event::Value value = valueOf(
      "2a540a52 0a086d5f564552544558 422a 0801 120c 12020801 12020802 12020803 2a18"
      "00000000 0000803f 00000040 00004040 00008040 0000a040"
      "4a1a 0a18 0a046d657368 1210 12016d 1801 2a027b7d 3203010203 380a");
  MeshValue mesh;
  ASSERT_TRUE(decodeMesh(value, value.metadata.value(), &mesh).ok());
  EXPECT_EQ(mesh.mesh.name, "m");
  EXPECT_EQ(mesh.mesh.part, event::MeshPart::kVertex);
  EXPECT_THAT(mesh.mesh.parts, ElementsAre(event::MeshPart::kVertex, event::MeshPart::kColor));
  EXPECT_EQ(mesh.mesh.jsonConfig, "{}");
  EXPECT_EQ(mesh.numbers.type, event::TensorType::kFloat);
  EXPECT_THAT(mesh.numbers.shape, ElementsAre(1, 2, 3));
  EXPECT_EQ(mesh.numbers.content.size(), 24U);
}

TEST(DecodeMesh, ReportsInvalidValues) {
  const auto failure = [](const event::Value& value) {
    MeshValue mesh;
    return decodeMesh(value, event::SummaryMetadata(), &mesh).message();
  };
  EXPECT_EQ(failure(ofTensor(event::TensorType::kUInt8, {1, 3}, "abc")),
            "mesh: got shape (1, 3); expected (batch, rows, 3)");
  EXPECT_EQ(failure(ofStrings({1, 1, 3}, {"a", "b", "c"})),
            "mesh: got element type 7; expected numbers");
  EXPECT_EQ(failure(ofTensor(event::TensorType::kUInt8, {1, 1, 3}, "abc")),
            "mesh record: got part 0; expected 1 (vertices), 2 (faces) or 3 (colors)");
}

TEST(DecodeLayout, ReadsTheValueOfTheLayoutTag) {
  // torch 2.13, custom_scalars({"c": {"x": ["Multiline", ["a"]]}}).
  CustomScalarsLayout layout;
  ASSERT_TRUE(decodeLayout(valueOf("2a470a45"
                                   "0a18637573746f6d5f7363616c6172735f5f636f6e6669675f5f"
                                   "4215 0807 1200 420f 120d 0a0163 1208 0a0178 1203 0a0161"
                                   "4a12 0a10 0a0e637573746f6d5f7363616c617273"),
                           &layout)
                  .ok());
  ASSERT_EQ(layout.categories.size(), 1U);
  EXPECT_EQ(layout.categories[0].title, "c");
  ASSERT_EQ(layout.categories[0].charts.size(), 1U);
  EXPECT_EQ(layout.categories[0].charts[0].title, "x");
  EXPECT_THAT(layout.categories[0].charts[0].tags, ElementsAre("a"));
}

TEST(DecodeLayout, ReportsInvalidValues) {
  const auto failure = [](const event::Value& value) {
    CustomScalarsLayout layout;
    return decodeLayout(value, &layout).message();
  };
  EXPECT_EQ(failure(ofStrings({2}, {"", ""})), "layout: got shape (2); expected ()");
  EXPECT_EQ(failure(ofStrings({}, {"\x12\x7f"})),
            "custom-scalars layout: got 2 other bytes; expected a tensorboard.Layout message");
}

TEST(DecodeTensor, ReadsAnyTypeOfAnyShape) {
  event::Tensor tensor;
  ASSERT_TRUE(decodeTensor(ofTensor(event::TensorType::kHalf, {1, 2}, "abcd"), &tensor).ok());
  EXPECT_EQ(tensor.type, event::TensorType::kHalf);
  EXPECT_THAT(tensor.shape, ElementsAre(1, 2));
  EXPECT_EQ(tensor.content, "abcd");
  // The null tensor of the hparams plugin.
  ASSERT_TRUE(decodeTensor(ofTensor(event::TensorType::kFloat, {0}, ""), &tensor).ok());
  EXPECT_THAT(tensor.shape, ElementsAre(0));
}

TEST(DecodeTensor, ReadsASimpleValue) {
  event::Value value;
  value.data = 0.5F;
  event::Tensor tensor;
  ASSERT_TRUE(decodeTensor(value, &tensor).ok());
  EXPECT_EQ(tensor.type, event::TensorType::kFloat);
  EXPECT_THAT(tensor.shape, IsEmpty());
  EXPECT_EQ(tensor.content, unhex("0000003f"));
}

TEST(DecodeTensor, LeavesATypeItDoesNotKnowAsItIs) {
  constexpr auto kComplex64 = static_cast<event::TensorType>(8);
  event::Tensor tensor;
  ASSERT_TRUE(decodeTensor(ofTensor(kComplex64, {1}, "abcdefgh"), &tensor).ok());
  EXPECT_EQ(tensor.content, "abcdefgh");
}

TEST(DecodeTensor, RejectsContentThatDoesNotFitTheShape) {
  EXPECT_EQ(failureOf(decodeTensor, ofTensor(event::TensorType::kInt64, {2}, "abcdefgh")),
            "tensor: got 8 bytes; expected the elements of shape (2) of 8 bytes each");
  EXPECT_EQ(failureOf(decodeTensor, ofTensor(event::TensorType::kUInt8, {0, -1}, "")),
            "tensor: got 0 bytes; expected the elements of shape (0, -1) of 1 bytes each");
  EXPECT_EQ(failureOf(decodeTensor, valueOf(kSummaryImage)),
            "tensor: got the field image; expected a tensor");
}

}  // namespace
}  // namespace steptape
